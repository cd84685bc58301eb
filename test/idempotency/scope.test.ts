import { expect } from "chai";
import { postForm } from "../documents/support.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount } from "../support/use-service.ts";
import { newKey } from "./support.ts";

/** What makes two requests with one Idempotency-Key the same: the path, the query and everything that is sent. */
describe("a request with an Idempotency-Key", () => {
  const { client } = useAccount();

  const newCandidate = async () => `/candidates/${(await client.post("/candidates")).body.id}`;

  it("is another one at another path", async () => {
    const [one, other] = [await newCandidate(), await newCandidate()];
    const header = { "Idempotency-Key": newKey() };
    expect((await client.post(`${one}/start`, {}, header)).status).to.equal(200);
    expectProblem(await client.post(`${other}/start`, {}, header), 422, "idempotency_key_reused");
    expect((await client.get(other)).body.state).to.equal("created");
  });

  it("is another one with another query", async () => {
    const header = { "Idempotency-Key": newKey() };
    expect((await client.post("/candidates", {}, header)).status).to.equal(201);
    expectProblem(await client.post("/candidates?dry_run=false", {}, header), 422, "idempotency_key_reused");
  });

  it("is another one with another file, name of a file, type of a file or field", async () => {
    const documents = `${await newCandidate()}/documents`;
    const header = { "Idempotency-Key": newKey() };
    const file = { bytes: "one", filename: "cv.txt", type: "text/plain" };
    const first = await postForm(client, documents, { name: "CV" }, file, header);
    expect(first.status).to.equal(201);
    for (const [name, sent] of [
      ["CV", { ...file, bytes: "two" }],
      ["CV", { ...file, filename: "other.txt" }],
      ["CV", { ...file, type: "text/html" }],
      ["CV", undefined],
      ["Passport", file],
    ] as const)
      expectProblem(await postForm(client, documents, { name }, sent, header), 422, "idempotency_key_reused");
    const again = await postForm(client, documents, { name: "CV" }, file, header);
    expect(again.headers.get("idempotent-replayed")).to.equal("true");
    expect(again.body).to.deep.equal(first.body);
  });
});
