import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { AuditStore } from "../../src/audit/store.ts";
import { eraserOf } from "../../src/candidates/eraser.ts";
import { CandidateStore } from "../../src/candidates/store.ts";
import { ContentStore } from "../../src/content/store.ts";
import { SharedClock } from "../../src/infra/clock.ts";
import { Problem } from "../../src/problems.ts";
import { AddressHash } from "../../src/reminders/address-hash.ts";
import { reminderStores } from "../../src/reminders/stores.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";

const HOLD = { hold: { reason: "Dispute of 2026-08" } };

describe("a hold", () => {
  const service = useService({ LIMIT_SCALE: 100 });
  const account = useAccount(service);
  const { client } = account;

  const create = async (given: object = {}) => (await client.post("/candidates", given)).body;
  const erase = (path: string, headers = {}) => client.request("DELETE", path, { headers });

  /** Erases as operators' commands and sweeps do. */
  function eraser() {
    const { mongo } = service.operators;
    const clock = new SharedClock();
    return eraserOf({
      store: new CandidateStore(mongo, clock),
      content: new ContentStore(mongo, clock),
      audit: new AuditStore(mongo, clock),
      idempotency: { end: () => Promise.resolve(), forget: () => Promise.resolve() },
      messages: reminderStores(mongo, new AddressHash(randomBytes(32)), randomBytes),
    });
  }

  it("keeps the candidate, its documents and references until it is lifted", async () => {
    const { id, documents, references, version } = await create({ documents: ["CV"], references: [{ name: "Bo" }] });
    const path = `/candidates/${id}`;
    const parts = [`${path}/documents/${documents[0]?.id}`, `/references/${references[0]?.id}`];
    const set = await client.patch(path, HOLD);
    expect(set.body).to.deep.include({ ...HOLD, version: version + 1 });
    for (const each of [path, ...parts]) {
      const refused = expectProblem(await erase(each), 409, "on_hold");
      expect(refused.detail).to.contain(id).and.to.contain("lift the hold");
    }
    expect((await client.patch(path, HOLD)).body.version, "set twice").to.equal(version + 1);
    expect((await client.patch(parts[0]!, { name: "Résumé" })).status, "it can be worked on").to.equal(200);
    const headers = { "Content-Type": "text/plain" };
    const put = (body: string) => client.request("PUT", `${parts[0]}/content`, { headers, body: Buffer.from(body) });
    expect((await put("first")).status).to.equal(200);
    expectProblem(await put("second"), 409, "on_hold");
    const kept = await fetch(`${service.url}${parts[0]}/content`, { headers: { "X-API-Key": account.key } });
    expect(await kept.text()).to.equal("first");
    expect((await client.patch(path, { withdrawn: true })).body).to.deep.include({ ...HOLD, state: "withdrawn" });
    expectProblem(await erase(path), 409, "on_hold");
    expect((await client.patch(path, { hold: null })).body.hold).to.equal(null);
    for (const each of [...parts, path]) expect((await erase(each)).status).to.equal(204);
    expectProblem(await client.patch(path, HOLD), 410, "candidate_deleted");
  });

  it("leaves in the audit of a deletion when it was lifted", async () => {
    const { id } = await create();
    await client.patch(`/candidates/${id}`, HOLD);
    const lifted = await client.patch(`/candidates/${id}`, { hold: null });
    await erase(`/candidates/${id}`);
    const { data } = await service.operators.audit.list(10, account.id);
    const details = data.find(({ subject }) => subject === id)?.details;
    expect(details).to.include({ hold_lifted_at: lifted.body.updated_at });
  });

  it("is told after If-Match has been checked, of the candidate and of its parts", async () => {
    const { id, documents } = await create({ documents: ["CV"] });
    const path = `/candidates/${id}`;
    await client.patch(path, HOLD);
    const stale = { "If-Match": '"of a version"' };
    const current = { "If-Match": (await client.get(path)).headers.get("etag") ?? "" };
    for (const each of [path, `${path}/documents/${documents[0]?.id}`]) {
      expectProblem(await erase(each, stale), 412, "version_mismatch");
      expectProblem(await erase(each, current), 409, "on_hold");
    }
    expectProblem(await client.patch(path, { hold: null }, stale), 412, "version_mismatch");
    expectProblem(await erase(`${path}/documents/doc_unknown`), 404, "not_found");
  });

  it("can be set on several at once and on whoever is withdrawn or completed, and needs a reason", async () => {
    const completed = await create({ documents: [{ name: "CV", state: "accepted" }] });
    await client.post(`/candidates/${completed.id}/start`);
    const ids = [completed.id, (await create({ withdrawn: true })).id];
    const bulk = await client.patch("/candidates/bulk?count=2", { candidates: ids.map((id) => ({ id, ...HOLD })) });
    expect(bulk.status, JSON.stringify(bulk.body)).to.equal(200);
    for (const id of ids) expectProblem(await erase(`/candidates/${id}`), 409, "on_hold");
    for (const hold of [
      {},
      { reason: "" },
      { reason: "x".repeat(501) },
      { reason: null },
      "yes",
      "",
      { reason: "a", by: "b" },
    ])
      expectProblem(await client.patch(`/candidates/${ids[0]}`, { hold }), 422, "validation_failed");
    expectProblem(await client.post("/candidates", HOLD), 422, "validation_failed");
    expectProblem(await client.post("/candidates", { erases_at: null }), 422, "validation_failed");
    expectProblem(await client.patch(`/candidates/${ids[0]}`, { erases_at: null }), 422, "validation_failed");
    expect((await client.get(`/candidates/${ids[0]}`)).body).to.deep.include(HOLD);
  });

  it("outlasts damage to the record", async () => {
    const { id } = await create();
    await client.patch(`/candidates/${id}`, HOLD);
    const candidates = service.operators.mongo.db.collection<{ _id: string }>("candidates");
    for (const damage of [{ created_at: "yesterday" }, { hold: { reason: 7 } }, { hold: "?" }]) {
      await candidates.updateOne({ _id: id }, { $set: damage });
      expect((await client.get(`/candidates/${id}`)).status).to.equal(500);
      expectProblem(await erase(`/candidates/${id}`), 409, "on_hold");
    }
    await eraser().erase({ accountId: account.id, keyId: "ann" }, id, () => undefined, { despiteHolds: true });
    expectProblem(await client.get(`/candidates/${id}`), 410, "candidate_deleted");
  });

  it("yields to whoever erases despite holds", async () => {
    const { id } = await create();
    await client.patch(`/candidates/${id}`, HOLD);
    const caller = { accountId: account.id, keyId: "ann" };
    const refused = await eraser()
      .erase(caller, id, () => undefined)
      .catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(Problem).and.to.include({ code: "on_hold" });
    expect((await client.get(`/candidates/${id}`)).status).to.equal(200);
    await eraser().erase(caller, id, () => undefined, { despiteHolds: true });
    expectProblem(await client.get(`/candidates/${id}`), 410, "candidate_deleted");
  });
});
