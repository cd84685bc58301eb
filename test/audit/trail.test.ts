import { expect } from "chai";
import type { AuditRecord } from "../../src/audit/entry.ts";
import { AuditStore } from "../../src/audit/store.ts";
import { type AuditTrail, auditTrail } from "../../src/audit/trail.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { problem } from "../../src/problems.ts";
import { createIndexes } from "../../src/infra/indexes.ts";
import { problemOf, useAccounts } from "../accounts/support.ts";
import { eventOf } from "./support.ts";

describe("AuditTrail", () => {
  const accounts = useAccounts();
  let store: AuditStore;
  let trail: AuditTrail;
  let now = Date.parse("2026-11-21T10:00:00Z");
  before(async () => {
    store = new AuditStore(accounts.mongo, { now: () => now++ });
    await createIndexes(accounts.mongo.db, [store]);
    trail = auditTrail({ store, newId: newTypeId, actor: () => "ann" });
  });

  const change = (subject: string, accountId = newTypeId("acct")) => ({
    action: "keys revoke",
    accountId,
    subject,
    details: { reason: "leaked" },
  });

  it("records a change before it is made, and its outcome afterwards", async () => {
    const revoke = change("key_1");
    const during = await trail.around(revoke, () => trail.list(1));
    const [begun] = during.data;
    expect(begun).to.include({
      object: "audit_entry",
      actor: "ann",
      action: "keys revoke",
      account_id: revoke.accountId,
      subject: "key_1",
    });
    expect(begun).to.deep.include({ outcome: "unknown", finished_at: null, details: { reason: "leaked" } });
    expect(during.object).to.equal("list");
    const [done] = (await trail.list(1)).data;
    expect([done?.at, done?.finished_at].map((at) => Date.parse(at ?? ""))).to.deep.equal([now - 2, now - 1]);
    expect(done).to.deep.equal({ ...begun, outcome: "done", finished_at: done?.finished_at });
    expect(done?.finished_at).to.be.a("string");
  });

  it("records why a change failed", async () => {
    await problemOf(
      trail.around(change("key_2"), () => Promise.reject(problem("limiter_unavailable", "The limiter was not told."))),
      "limiter_unavailable",
    );
    expect((await trail.list(1)).data[0]).to.include({
      subject: "key_2",
      outcome: "failed",
      reason: "The limiter was not told.",
    });
  });

  it("keeps the first outcome of a change, and writes each entry once", async () => {
    const deletion = eventOf(newTypeId("acct"), { action: "candidates delete", subject: "cand_1" });
    await store.append([deletion]);
    await store.append([{ ...deletion, actor: "late" }]);
    const { data } = await trail.list(10, deletion.account);
    expect(data).to.have.length(1);
    expect(data[0]).to.include({ actor: "ann", finished_at: data[0]!.at, outcome: "done", reason: null });
  });

  it("shows entries of a release that kept the outcomes apart", async () => {
    const account = newTypeId("acct");
    const { of: _of, outcome: _outcome, reason: _reason, ...old } = eventOf(account);
    const at = "2026-11-21T09:00:00.000Z";
    await accounts.mongo.db.collection<Partial<AuditRecord> & { _id: string }>("audit").insertOne({ ...old, at });
    const outcome = { _id: old._id, at: "2026-11-21T09:00:01.000Z", outcome: "failed", reason: "Down." };
    await accounts.mongo.db.collection<typeof outcome>("audit_outcomes").insertOne(outcome);
    await store.append([eventOf(account)]);
    const { data } = await trail.list(10, account);
    expect(data[1]).to.include({ id: old._id, at, outcome: "failed", reason: "Down.", finished_at: outcome.at });
    expect(data[0]).to.include({ outcome: "done" });
  });

  it("records only 'internal error' for an error that is not a problem, because its text may hold a secret", async () => {
    await trail
      .around(change("key_3"), () => Promise.reject(new Error("mongodb://me:hidden@host")))
      .catch(() => undefined);
    expect((await trail.list(1)).data[0]).to.include({ outcome: "failed", reason: "internal error" });
  });

  it("refuses a change that it cannot record", async () => {
    const down = new AuditStore(accounts.mongo, Date);
    down.append = () => Promise.reject(problem("store_unavailable", "Down."));
    let made = false;
    await problemOf(
      auditTrail({ store: down, newId: newTypeId, actor: () => "ann" }).around(
        change("key_4"),
        async () => void (made = true),
      ),
      "store_unavailable",
    );
    expect(made).to.equal(false);
  });

  it("lets a change stand if it cannot write its outcome", async () => {
    const failing = new AuditStore(accounts.mongo, { now: () => now++ });
    const result = await auditTrail({
      store: failing,
      newId: newTypeId,
      actor: () => "ann",
    }).around(change("key_5"), async () => {
      failing.append = () => Promise.reject(problem("store_unavailable", "Down."));
      return "made";
    });
    expect(result).to.equal("made");
    expect((await trail.list(1)).data[0]).to.include({ subject: "key_5", outcome: "unknown" });
  });

  it("lists the newest entries first, up to a limit, of one account or of all", async () => {
    const account = newTypeId("acct");
    for (const subject of ["key_a", "key_b", "key_c"])
      await trail.around(change(subject, account), async () => undefined);
    await trail.around(change("key_other"), async () => undefined);
    const subjects = async (limit: number, accountId?: string) =>
      (await trail.list(limit, accountId)).data.map(({ subject }) => subject);
    expect(await subjects(2)).to.deep.equal(["key_other", "key_c"]);
    expect(await subjects(2, account)).to.deep.equal(["key_c", "key_b"]);
    expect(await subjects(1000, account)).to.deep.equal(["key_c", "key_b", "key_a"]);
    expect(await subjects(10, "acct_x")).to.deep.equal([]);
    for (const limit of [0, -1, 1.5, NaN, 1001]) {
      const { message, extras } = await problemOf(trail.list(limit), "validation_failed");
      const detail = "must be a whole number from 1 to 1000";
      expect(message).to.equal(`/limit ${detail}.`);
      expect(extras).to.deep.equal({ errors: [{ pointer: "/limit", detail }] });
    }
  });

  it("records every change that operators make to accounts and keys, and never a secret", async () => {
    const { service } = accounts;
    const { id } = await service.createAccount({ name: "Acme" });
    const { id: keyId, key } = await service.createKey({ accountId: id, name: "ats" });
    const { key: renewed } = await service.rotateKey({ keyId, graceSeconds: 60 });
    await service.revokeKey(keyId);
    await service.setStatus(id, "suspended");
    await service.setStatus(id, "active");
    const entries = (await auditTrail({ store, newId: newTypeId, actor: () => "" }).list(10, id)).data.toReversed();
    expect(
      entries.map(
        ({ action, subject, outcome }) =>
          `${action} ${subject === id ? "account" : subject === keyId ? "key" : subject} ${outcome}`,
      ),
    ).to.deep.equal([
      "accounts create account done",
      "keys create key done",
      "keys rotate key done",
      "keys revoke key done",
      "accounts suspend account done",
      "accounts resume account done",
    ]);
    expect(entries.map(({ details }) => details)).to.deep.equal([
      { name: "Acme" },
      { name: "ats" },
      { grace_seconds: 60 },
      {},
      {},
      {},
    ]);
    for (const collection of ["audit", "audit_outcomes"]) {
      const stored = JSON.stringify(await accounts.mongo.db.collection(collection).find().toArray());
      for (const secret of [key, renewed]) expect(stored).to.not.include(secret);
      expect(stored).to.not.match(/cos_live_/);
    }
  });
});
