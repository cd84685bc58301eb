import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { AccountStore } from "../../src/accounts/store.ts";
import { AuditStore } from "../../src/audit/store.ts";
import { sweepStore } from "../../src/candidates/sweep-store.ts";
import { eraserOf } from "../../src/candidates/eraser.ts";
import { service as ofService } from "../../src/candidates/record.ts";
import { datedBy } from "../../src/candidates/erasure.ts";
import { CandidateStore } from "../../src/candidates/store.ts";
import { ContentStore } from "../../src/content/store.ts";
import type { Mongo } from "../../src/infra/mongo.ts";
import { AddressHash } from "../../src/reminders/address-hash.ts";
import { reminderStores } from "../../src/reminders/stores.ts";
import { RetentionStore } from "../../src/settings/retention-store.ts";
import { retention } from "../../src/sweeps/retention.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount, useOwnService } from "../support/use-service.ts";

const DAY_MS = 86_400_000;
const AN_HOUR_LATER = 3_600_000;

describe("the sweep of retention", () => {
  const service = useOwnService({ LIMIT_SCALE: 100 });
  const account = useAccount(service);
  const { client } = account;

  /** Sweeps as a replica whose clock is ahead. @param through what it reads and writes with. */
  function replica(aheadMs: number, { through, ended = 0 }: { through?: Mongo; ended?: number } = {}) {
    const mongo = through ?? service.operators.mongo;
    const clock = { now: () => Date.now() + aheadMs };
    const rules = new RetentionStore(mongo, clock, service.config.RETENTION_NOTICE_HOURS);
    const candidates = new CandidateStore(mongo, clock, undefined, undefined, datedBy(rules.of));
    const eraser = eraserOf({
      store: candidates,
      content: new ContentStore(mongo, clock),
      audit: new AuditStore(mongo, clock),
      idempotency: { end: () => Promise.resolve(), forget: () => Promise.resolve() },
      messages: reminderStores(mongo, new AddressHash(randomBytes(32)), randomBytes),
    });
    const store = sweepStore(mongo, candidates.reader);
    const restore = { endedAt: () => ended };
    const accounts = new AccountStore(mongo);
    const sweep = retention({ accounts, candidates, store, eraser, rules, restore, clock, feedLagMs: 0 });
    return { rules, candidates, run: () => sweep.run(new AbortController().signal) };
  }
  const sweep = (aheadMs: number, options = {}) => replica(aheadMs, options).run();

  const keep = (days: object) => client.patch("/settings/retention", { erase_after_days: days });
  // The next test sweeps this one's candidates, too.
  afterEach(() => client.patch("/settings/retention", { erase_after_days: null }));
  const create = async (given: object = {}) => (await client.post("/candidates", given)).body;
  const read = async (id: string) => (await client.get(`/candidates/${id}`)).body;
  const due = (from: unknown, days: number) => new Date(Date.parse(String(from)) + days * DAY_MS).toISOString();
  const COMPLETED = { documents: [{ name: "CV", state: "accepted" }] };

  async function completed(): Promise<string> {
    const { id } = await create(COMPLETED);
    await client.post(`/candidates/${id}/start`);
    return id;
  }

  it("erases nobody of a suspended account, and goes on with the others", async () => {
    const thief = await service.account();
    await thief.client.patch("/settings/retention", { erase_after_days: { inactive: 1 } });
    const batch = { candidates: Array.from({ length: 100 }, () => ({})) };
    const { results } = (await thief.client.post("/candidates/bulk?count=100", batch)).body;
    await keep({ inactive: 2 });
    await create();
    const { accounts } = service.operators;
    await accounts.setStatus(thief.id, "suspended");
    expect(await sweep(5 * DAY_MS), "one of another account").to.equal(1);
    await accounts.setStatus(thief.id, "active");
    expect((await thief.client.get(`/candidates/${results[0]?.id}`)).status).to.equal(200);
    expect(await sweep(5 * DAY_MS)).to.equal(100);
  });

  it("erases who is due by the state, with the files, and the audit says so", async () => {
    await keep({ completed: 10, withdrawn: 5, inactive: 20 });
    const ids = [await completed(), (await create({ withdrawn: true })).id, (await create()).id];
    const states = await Promise.all(ids.map((id) => read(id)));
    expect(states.map(({ state }) => state)).to.deep.equal(["completed", "withdrawn", "created"]);
    expect(states.map(({ erases_at }) => erases_at)).to.deep.equal(
      states.map(({ updated_at }, n) => due(updated_at, [10, 5, 20][n]!)),
    );
    expect((await client.get("/candidates")).body.data.map((row) => row.erases_at)).to.have.members(
      states.map(({ erases_at }) => erases_at),
    );
    for (const [days, gone] of [
      [4.9, 0],
      [5.1, 1],
      [10.1, 1],
      [20.1, 1],
    ] as const)
      expect(await sweep(days * DAY_MS), `after ${days} days`).to.equal(gone);
    for (const id of ids) expectProblem(await client.get(`/candidates/${id}`), 410, "candidate_deleted");
    const rows = (await client.get("/candidates")).body.data;
    expect(rows.filter((row) => "deleted" in row)).to.have.length(3);
    const entries = await service.operators.mongo.db.collection("audit").find({ account: account.id }).toArray();
    const erased = entries.filter(({ actor }) => actor === "retention");
    expect(erased.map(({ action, subject }) => [action, subject])).to.have.deep.members(
      ids.map((id) => ["candidates delete", id]),
    );
  });

  it("gives a day's notice of new settings to candidates that are due already, and tells them in the feed", async () => {
    const { id } = await create({ withdrawn: true });
    const cursor = (await client.get("/candidates")).body.cursor;
    await service.operators.mongo.db
      .collection<{ _id: string }>("candidates")
      .updateOne({ _id: id }, { $set: { "retention.since": new Date(Date.now() - 30 * DAY_MS).toISOString() } });
    const { updated_at } = (await keep({ withdrawn: 3 })).body;
    expect((await read(id)).erases_at, "until the sweep has told it").to.equal(null);
    await sweep(AN_HOUR_LATER);
    const told = await read(id);
    expect(told.erases_at).to.equal(due(updated_at, 1));
    expect((await client.get(`/candidates?cursor=${cursor}`)).body.data).to.deep.include(told);
    expect(await sweep(0.9 * DAY_MS)).to.equal(0);
    expect(await sweep(1.1 * DAY_MS)).to.equal(1);
  });

  it("forgets the times when the settings are turned off, and erases nobody", async () => {
    await keep({ inactive: 1 });
    const { id, erases_at } = await create();
    expect(erases_at).not.to.equal(null);
    await keep({ inactive: null });
    expect(await sweep(2 * DAY_MS)).to.equal(0);
    expect(await read(id)).to.include({ erases_at: null, version: 2 });
    expect(await sweep(2 * DAY_MS)).to.equal(0);
    expect((await read(id)).version, "told once").to.equal(2);
  });

  it("believes the settings as they are when it erases, not what a record says", async () => {
    await keep({ inactive: 1 });
    const { id } = await create();
    const late = replica(3 * DAY_MS);
    await late.rules.all();
    await service.operators.mongo.db
      .collection<{ _id: string }>("retention_settings")
      .updateOne({ _id: account.id }, { $set: { refreshed: "9" } }); // as if every record followed the settings
    await keep({ inactive: 9 });
    await service.operators.mongo.db
      .collection<{ _id: string }>("retention_settings")
      .updateOne({ _id: account.id }, { $set: { refreshed: "9" } });
    expect(await late.run()).to.equal(0);
    const { updated_at, erases_at, created_at } = await read(id);
    expect(erases_at).to.equal(due(created_at, 9));
    expect(updated_at).not.to.equal(created_at);
  });

  it("counts what somebody does, and what changes the state, as activity, and nothing that the service does", async () => {
    await keep({ inactive: 5, completed: 7 });
    const id = await completed();
    const first = await read(id);
    expect(first.erases_at).to.equal(due(first.updated_at, 7));
    await client.patch(`/candidates/${id}`, { name: "Ada" });
    expect((await read(id)).erases_at, "it is completed since then all the same").to.equal(first.erases_at);
    const later = replica(2 * DAY_MS);
    await later.rules.all();
    const edit = (job_title: string) =>
      later.candidates.change(ofService(account.id, "replans"), id, (record) => ({ ...record, job_title }));
    await edit("Baker");
    expect((await read(id)).erases_at).to.equal(first.erases_at);
    await client.post(`/candidates/${id}/documents`, { name: "Permit" });
    const again = await read(id);
    expect(again.state).to.equal("in_progress");
    expect(again.erases_at).to.equal(due(again.updated_at, 5));
    await edit("Cook");
    expect((await read(id)).erases_at, "the service by itself").to.equal(again.erases_at);
    await client.patch(`/candidates/${id}`, { withdrawn: true });
    expect((await read(id)).erases_at).to.equal(null);
  });

  it("passes by whoever is under a hold, and gives a day's notice when it is lifted", async () => {
    await keep({ withdrawn: 1 });
    const { id } = await create({ withdrawn: true });
    const path = `/candidates/${id}`;
    const held = await client.patch(path, { hold: { reason: "dispute" } });
    expect(held.body.erases_at).to.equal(null);
    expect(await sweep(9 * DAY_MS)).to.equal(0);
    const since = new Date(Date.now() - 30 * DAY_MS).toISOString();
    const candidates = service.operators.mongo.db.collection<{ _id: string }>("candidates");
    await candidates.updateOne({ _id: id }, { $set: { "retention.since": since } });
    const { body } = await client.patch(path, { hold: null });
    expect(body.erases_at).to.equal(due(body.updated_at, 1));
    expect(await sweep(0.9 * DAY_MS)).to.equal(0);
    expect(await sweep(1.1 * DAY_MS)).to.equal(1);
  });

  it("never erases whom a hold has reached while it was about to", async () => {
    await keep({ inactive: 1 });
    const { id } = await create();
    const { mongo } = service.operators;
    let held: Awaited<ReturnType<typeof client.patch>> | undefined;
    const through: Mongo = {
      ...mongo,
      async bounded(name, operation) {
        // Between what it read and decided, and its write.
        if (name === "update candidates")
          held ??= await client.patch(`/candidates/${id}`, { hold: { reason: "dispute" } });
        return mongo.bounded(name, operation);
      },
    };
    expect(await sweep(3 * DAY_MS, { through })).to.equal(0);
    expect(held?.status).to.equal(200);
    expect(await read(id)).to.include({ version: held?.body.version, erases_at: null });
  });

  it("erases nobody for a day after a restore", async () => {
    await keep({ inactive: 1 });
    await create();
    const ended = Date.now() + 5 * DAY_MS;
    expect(await sweep(5.9 * DAY_MS, { ended })).to.equal(0);
    expect(await sweep(6.1 * DAY_MS, { ended })).to.equal(1);
  });

  it("counts from the last write of a version that knows no retention", async () => {
    await keep({ inactive: 1 });
    const { id } = await create();
    const updated_at = new Date(Date.now() + 10 * DAY_MS).toISOString();
    const candidates = service.operators.mongo.db.collection<{ _id: string }>("candidates");
    await candidates.updateOne({ _id: id }, { $set: { updated_at }, $inc: { version: 1 } });
    expect(await read(id)).to.include({ version: 2, erases_at: null });
    expect(await sweep(3 * DAY_MS)).to.equal(0);
    expect((await read(id)).erases_at).to.equal(due(updated_at, 1));
    await candidates.updateOne({ _id: id }, { $unset: { retention: "" } });
    expect((await read(id)).erases_at).to.equal(null);
  });

  it("is held up by no record that cannot be read, and erases none", async () => {
    await keep({ inactive: 1 });
    const [{ id: damaged }, { id }] = [await create(), await create()];
    const candidates = service.operators.mongo.db.collection<{ _id: string }>("candidates");
    await candidates.updateOne({ _id: damaged }, { $set: { created_at: "yesterday" } });
    expect(await sweep(3 * DAY_MS)).to.equal(1);
    expectProblem(await client.get(`/candidates/${id}`), 410, "candidate_deleted");
    expect((await client.get(`/candidates/${damaged}`)).status).to.equal(500);
  });
});
