import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { useAccount, useService } from "../../support/use-service.ts";
import { linkTo, open } from "./support.ts";

describe("Guesses at links", () => {
  const service = useService({ LOG_LEVEL: "trace" });
  const account = useAccount(service);

  it("find nothing and are slowed, while links that exist work", async () => {
    const { client } = account;
    const { id } = (await client.post("/candidates", { email: "ada@example.com", documents: ["CV"] })).body;
    await client.post(`/candidates/${id}/start`);
    const url = await linkTo(service, account, id, "candidate");
    const guesses = Array.from({ length: 250 }, () => randomBytes(32).toString("base64url"));
    const begun = performance.now();
    const responses = await Promise.all(
      guesses.map((guess, n) => open(`${service.url}/${n % 2 === 0 ? "u" : "r"}/${guess}`)),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 404)).to.have.length(20);
    expect(statuses.filter((status) => status === 429)).to.have.length(230);
    for (const { status, headers, text } of responses) {
      expect(text).not.to.contain("<form");
      if (status === 429) expect(Number(headers.get("retry-after"))).to.be.within(1, 60);
    }
    expect(performance.now() - begun, "the store is asked in batches, ten a second").to.be.above(100);
    expect((await open(url)).status).to.equal(200);
    expect((await open(`${service.url}/u/short`)).status).to.equal(429);
  });

  it("and links leave no token in the log", async () => {
    const { client } = account;
    const { id } = (await client.post("/candidates", { email: "ada@example.com", documents: ["CV"] })).body;
    await client.post(`/candidates/${id}/start`);
    const url = await linkTo(service, account, id, "candidate");
    const token = url.slice(url.lastIndexOf("/") + 1);
    for (const path of ["", "/stop", "/nothing", "/documents/doc_1", "?arrived=x", "/%E0"]) await open(url + path);
    await open(url, { method: "DELETE" });
    await open(`${url}/documents/doc_1`, { method: "POST", body: "x" });
    const lines = service.log.map((line) => JSON.stringify(line));
    expect(lines.some((line) => line.includes("candidatePage"))).to.equal(true);
    expect(lines.filter((line) => line.includes(token))).to.deep.equal([]);
  });
});
