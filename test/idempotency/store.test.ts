import { expect } from "chai";
import { type IdempotencyRecord, IdempotencyStore } from "../../src/idempotency/store.ts";
import type { Mongo } from "../../src/infra/mongo.ts";
import { newKey } from "./support.ts";
import { ACCOUNT, useWorkbench } from "./workbench.ts";

const SUBJECT = "cand_subject";
const OUTCOME = new TextEncoder().encode("outcome");

/** Each write names what the attempt had read. If another attempt has changed it since, the write does nothing. */
describe("the record of an Idempotency-Key", () => {
  const bench = useWorkbench();
  let store: IdempotencyStore;
  let record: IdempotencyRecord;
  beforeEach(async () => {
    store = bench.store;
    record = {
      _id: `${ACCOUNT}.${newKey()}`,
      account: ACCOUNT,
      subject: SUBJECT,
      fingerprint: "request",
      seed: "seed",
      owner: "first",
      lease_until: 1_000,
      created_at: bench.clock.time,
      state: "running",
      outcome: null,
    };
    await bench.clear();
    await store.insert(record);
  });

  const found = () => store.find(ACCOUNT, record._id);
  const outcomeOf = async ({ account, _id } = record) => (await store.find(account, _id))?.outcome?.value();
  const second = () => ({ ...record, owner: "second", lease_until: 2_000 });
  /** Runs something else first. @returns whether a second attempt then takes the record over. */
  const isTakenAfter = async (change: () => Promise<unknown>) => {
    await change();
    return store.replace(record, second());
  };

  it("is taken over if it is as it was read", async () => {
    expect(await isTakenAfter(async () => undefined)).to.equal(true);
    expect(await found()).to.include({ owner: "second", lease_until: 2_000 });
  });

  it("is not taken over if its lease was renewed, or if another attempt has taken over", async () => {
    expect(await isTakenAfter(() => store.lease(record, 1_500))).to.equal(false);
    await store.lease(record, 1_000);
    expect(await isTakenAfter(() => store.replace(record, { ...record, owner: "third" }))).to.equal(false);
    expect(await found()).to.include({ owner: "third", lease_until: 1_000 });
  });

  it("is not taken over if its outcome was forgotten", async () => {
    const forgotten = () => store.forgetOutcomes(ACCOUNT, SUBJECT).then(() => store.lease(record, 1_000));
    expect(await isTakenAfter(forgotten)).to.equal(false);
    expect(await found()).to.include({ owner: "first", forgotten: 1 });
  });

  it("is not taken over if its outcome was stored", async () => {
    expect(await isTakenAfter(() => store.finish(record, OUTCOME))).to.equal(false);
    expect(await outcomeOf()).to.deep.equal(Buffer.from(OUTCOME));
  });

  it("has its lease renewed by its owner alone, and only while the work runs", async () => {
    expect(await store.lease({ ...record, owner: "second" }, 9_000)).to.equal(false);
    expect(await store.finish(record, OUTCOME)).to.equal(true);
    expect(await store.lease(record, 9_000)).to.equal(false);
    expect(await found()).to.include({ lease_until: 1_000 });
  });

  it("gets no outcome of a request that used the key before it", async () => {
    expect(await store.finish({ ...record, seed: "another" }, OUTCOME)).to.equal(false);
    expect(await outcomeOf()).to.equal(undefined);
  });

  it("keeps its first outcome", async () => {
    expect(await store.finish(record, OUTCOME)).to.equal(true);
    expect(await store.finish(record, new TextEncoder().encode("later"))).to.equal(false);
    expect(await outcomeOf()).to.deep.equal(Buffer.from(OUTCOME));
  });

  it("is not removed by an attempt from which it was taken over, by a request before it, or once it has an outcome", async () => {
    expect(await store.remove({ ...record, owner: "second" })).to.equal(false);
    expect(await store.remove({ ...record, seed: "another" })).to.equal(false);
    await store.finish(record, OUTCOME);
    expect(await store.remove(record)).to.equal(false);
    expect(await outcomeOf()).to.deep.equal(Buffer.from(OUTCOME));
  });

  it("is removed by its owner while it has no outcome", async () => {
    expect(await store.remove(record)).to.equal(true);
    expect(await found()).to.equal(null);
  });

  it("forgets its outcome with its subject, of its account alone, and can be taken over at once", async () => {
    const others = [
      { ...record, _id: `${ACCOUNT}.${newKey()}`, subject: "cand_other" },
      { ...record, _id: `acct_other.${newKey()}`, account: "acct_other" },
    ];
    for (const each of others) await store.insert(each);
    for (const each of [record, ...others]) await store.finish(each, OUTCOME);
    await store.forgetOutcomes(ACCOUNT, SUBJECT);
    expect(await found()).to.include({ outcome: null, lease_until: 0, forgotten: 1 });
    for (const each of others) expect(await outcomeOf(each)).to.deep.equal(Buffer.from(OUTCOME));
    await store.replaceOutcomes(ACCOUNT, SUBJECT, new TextEncoder().encode("gone"));
    expect(await outcomeOf()).to.deep.equal(Buffer.from("gone"));
    for (const each of others) expect(await outcomeOf(each)).to.deep.equal(Buffer.from(OUTCOME));
  });

  it("is not removed for its age if the key was used again after it was found", async () => {
    const { mongo } = bench;
    /** Uses the key again right after the first search. */
    const raced: Mongo = {
      ...mongo,
      async bounded(name, operation) {
        const result = await mongo.bounded(name, operation);
        if (name.startsWith("find")) await store.replace(record, { ...record, created_at: bench.clock.time + 1_000 });
        return result;
      },
    };
    const { signal } = new AbortController();
    expect(await new IdempotencyStore(raced).removeOlderThan(bench.clock.time + 1, signal)).to.equal(0);
    expect(await found()).to.include({ created_at: bench.clock.time + 1_000 });
  });
});
