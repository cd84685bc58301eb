import { expect } from "chai";
import { taggedView } from "../../src/candidates/render.ts";
import { codedTag } from "../../src/http/entity-tags.ts";
import { jsonText } from "../../src/http/response.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { newKey, postRaw } from "./support.ts";

describe("Idempotency-Key", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;

  const create = (json: unknown, key: string, by = client) => by.post("/candidates", json, { "Idempotency-Key": key });
  const count = async (by = client) => (await by.get("/candidates")).body.data.length;

  it("replays the first response byte for byte, headers included, and charges the replay", async () => {
    const key = newKey();
    const body = { name: "Zoë 山田 \u0000 😀", documents: ["CV"], references: [{}] };
    const first = await postRaw(account, "/candidates", body, key);
    const again = await postRaw(account, "/candidates", body, key);
    expect(first).to.include({ status: 201, replayed: undefined });
    expect(again).to.include({ status: 201, replayed: "true", text: first.text });
    expect(again.headers).to.deep.equal(first.headers);
    const { tag } = await jsonText(taggedView(JSON.parse(first.text)));
    expect(again.headers).to.include({
      etag: codedTag(tag, "gzip"), // fetch() accepts gzip
      location: `/candidates/${(JSON.parse(first.text) as { id: string }).id}`,
    });
    expect(again.remaining).to.equal(first.remaining - 1);
    expect(await count()).to.equal(1);
  });

  it("replays the stored response without reading the candidate", async () => {
    const key = newKey();
    const first = await create({ external_id: "a", references_required: 1 }, key);
    await service.operators.mongo.db.collection<{ _id: string }>("candidates").deleteOne({ _id: first.body.id });
    const again = await create({ external_id: "a", references_required: 1 }, key);
    expect(again.body).to.deep.equal(first.body);
    expect(await count()).to.equal(0);
  });

  it("creates a candidate for each request without a key and for each new key", async () => {
    await client.post("/candidates", {});
    await client.post("/candidates", {});
    await create({}, newKey());
    await create({}, newKey());
    expect(await count()).to.equal(4);
  });

  it("is scoped to the account: its API keys share it, other accounts do not", async () => {
    const key = newKey();
    const other = await service.account();
    const { client: colleague } = await account.another();
    const first = await create({}, key);
    const theirs = await create({}, key, other.client);
    const ours = await create({}, key, colleague);
    expect(theirs.status).to.equal(201);
    expect(theirs.body.id).not.to.equal(first.body.id);
    expect(theirs.headers.get("idempotent-replayed")).to.equal(null);
    expect(ours.body).to.deep.equal(first.body);
    expect([await count(), await count(other.client)]).to.deep.equal([1, 1]);
  });

  it("refuses a reused key with another body, and keeps the first response", async () => {
    const key = newKey();
    const first = await create({ name: "Ann" }, key);
    expectProblem(await create({ name: "Bob" }, key), 422, "idempotency_key_reused");
    expect((await create({ name: "Ann" }, key)).body).to.deep.equal(first.body);
    expect(await count()).to.equal(1);
  });

  it("can be used again after a refusal, with the same request or a corrected one", async () => {
    const [same, corrected] = [newKey(), newKey()];
    const holder = await client.post("/candidates", { external_id: "taken" });
    for (const key of [same, corrected])
      expectProblem(await create({ external_id: "taken" }, key), 409, "external_id_taken");
    expect((await create({ external_id: "free" }, corrected)).status).to.equal(201);
    expect((await client.request("DELETE", `/candidates/${holder.body.id}`)).status).to.equal(204);
    const first = await create({ external_id: "taken" }, same);
    expect(first.status).to.equal(201);
    const again = await create({ external_id: "taken" }, same);
    expect(again.headers.get("idempotent-replayed")).to.equal("true");
    expect(again.body).to.deep.equal(first.body);
  });

  it("can be used again after a 412, with the current ETag in If-Match", async () => {
    const { body, headers } = await client.post("/candidates");
    const add = (tag: string) =>
      client.post(`/candidates/${body.id}/documents`, { name: "CV" }, { "Idempotency-Key": "cv", "If-Match": tag });
    expectProblem(await add('"stale"'), 412, "version_mismatch");
    const added = await add(headers.get("etag") ?? "");
    expect([added.status, added.headers.get("idempotent-replayed")]).to.deep.equal([201, null]);
  });

  it("stores nothing for an invalid body: the key can be used again", async () => {
    const key = newKey();
    expectProblem(await create({ name: 7 }, key), 422, "validation_failed");
    expect(await create({ name: "Ann" }, key)).to.include({ status: 201 });
  });

  it("treats a quoted string (the draft's form) and the bare characters as the same key", async () => {
    const first = await create({}, 'a"\\b');
    const again = await create({}, '"a\\"\\\\b"');
    expect(again.headers.get("idempotent-replayed")).to.equal("true");
    expect(again.body).to.deep.equal(first.body);
  });

  it("refuses a malformed key, and does nothing", async () => {
    expectProblem(await create({}, "k".repeat(256)), 400, "malformed_request");
    expect(await count()).to.equal(0);
  });

  it("is ignored on a read", async () => {
    const read = await client.get("/candidates", { "Idempotency-Key": "clé" });
    expect(read.status).to.equal(200);
  });
});
