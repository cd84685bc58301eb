import { expect } from "chai";
import type { Body } from "../../support/client.ts";
import { useAccount, useService } from "../../support/use-service.ts";
import { linkTo, open, PDF, post } from "./support.ts";

describe("The stop link of a candidate", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;
  let candidate: Body;
  let url: string;
  const read = async () => (await client.get(`/candidates/${candidate.id}`)).body;

  beforeEach(async () => {
    const { id } = (await client.post("/candidates", { email: "ada@example.com", documents: ["Passport"] })).body;
    candidate = (await client.post(`/candidates/${id}/start`)).body;
    url = await linkTo(service, account, id, "candidate");
  });

  it("stops messages with a POST, not with a GET, and then says so", async () => {
    const asked = await open(`${url}/stop`);
    expect([asked.status, asked.text.includes("<form")]).to.deep.equal([200, true]);
    expect(await read()).to.deep.equal(candidate);
    const done = await open(`${url}/stop`, {
      method: "POST",
      body: "List-Unsubscribe=One-Click",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
    });
    const says = "Test will send no more messages to this address.";
    expect([done.status, done.text.includes(says)]).to.deep.equal([200, true]);
    expect((await post(`${url}/stop`)).text, "again").to.contain("through the links that you have.");
    const { text } = await open(`${url}/stop`);
    expect(text).to.contain("The messages are stopped").and.to.contain("Do you have questions? Contact Test.");
    expect((await read()).version, "once").to.equal(candidate.version + 1);
    expect(
      (await post(`${url}/documents/${candidate.documents[0]?.id}`, { content: PDF() })).status,
      "what is asked for can still be sent",
    ).to.equal(303);
  });

  it("says whom to write to if the stop was a mistake", async () => {
    await client.patch("/settings/assistant", { reply_to: "help@example.com" });
    expect((await post(`${url}/stop`)).text).to.contain("Contact Test (help@example.com).");
  });

  it("lets people stop the messages who have nothing left to do", async () => {
    await client.patch(`/candidates/${candidate.id}`, { withdrawn: true });
    expect((await open(url)).status).to.equal(410);
    expect((await open(`${url}/stop`)).text).to.contain("<form");
  });
});
