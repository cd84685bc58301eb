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
      id: `${ACCOUNT}.${newKey()}`,
      accountId: ACCOUNT,
      subject: SUBJECT,
      fingerprint: "request",
      seed: "seed",
      owner: "first",
      leaseUntil: 1_000,
      createdAt: bench.clock.time,
      outcome: undefined,
    };
    await bench.clear();
    await store.insert(record);
  });

  const found = async (id = record.id) => store.find(ACCOUNT, id);
  const second = () => ({ ...record, owner: "second", leaseUntil: 2_000 });
  /** Runs something else first. @returns whether a second attempt then takes the record over. */
  const isTakenAfter = async (change: () => Promise<unknown>) => {
    await change();
    return store.swap(record, second());
  };

  it("is taken over if it is as it was read", async () => {
    expect(await isTakenAfter(async () => undefined)).to.equal(true);
    expect(await found()).to.include({ owner: "second", leaseUntil: 2_000 });
  });

  it("is not taken over if its lease was renewed, or if another attempt has taken over", async () => {
    expect(await isTakenAfter(() => store.lease(record, 1_500))).to.equal(false);
    await store.lease(record, 1_000);
    expect(await isTakenAfter(() => store.swap(record, { ...record, owner: "third" }))).to.equal(false);
    expect(await found()).to.include({ owner: "third", leaseUntil: 1_000 });
  });

  it("is not taken over if its outcome was forgotten", async () => {
    const forgotten = () => store.forgetOutcomes(ACCOUNT, SUBJECT).then(() => store.lease(record, 1_000));
    expect(await isTakenAfter(forgotten)).to.equal(false);
    expect(await found()).to.include({ owner: "first", forgotten: 1 });
  });

  it("is not taken over if its outcome was stored", async () => {
    expect(await isTakenAfter(() => store.finish(record, OUTCOME))).to.equal(false);
    expect((await found())?.outcome).to.deep.equal(Buffer.from(OUTCOME));
  });

  it("has its lease renewed by its owner alone, and only while the work runs", async () => {
    expect(await store.lease({ ...record, owner: "second" }, 9_000)).to.equal(false);
    expect(await store.finish(record, OUTCOME)).to.equal(true);
    expect(await store.lease(record, 9_000)).to.equal(false);
    expect(await found()).to.include({ leaseUntil: 1_000 });
  });

  it("gets no outcome of a request that used the key before it", async () => {
    expect(await store.finish({ ...record, seed: "another" }, OUTCOME)).to.equal(false);
    expect((await found())?.outcome).to.equal(undefined);
  });

  it("keeps its first outcome", async () => {
    expect(await store.finish(record, OUTCOME)).to.equal(true);
    expect(await store.finish(record, new TextEncoder().encode("later"))).to.equal(false);
    expect((await found())?.outcome).to.deep.equal(Buffer.from(OUTCOME));
  });

  it("is not removed by an attempt from which it was taken over, by a request before it, or once it has an outcome", async () => {
    expect(await store.remove({ ...record, owner: "second" })).to.equal(false);
    expect(await store.remove({ ...record, seed: "another" })).to.equal(false);
    await store.finish(record, OUTCOME);
    expect(await store.remove(record)).to.equal(false);
    expect((await found())?.outcome).to.deep.equal(Buffer.from(OUTCOME));
  });

  it("is removed by its owner while it has no outcome", async () => {
    expect(await store.remove(record)).to.equal(true);
    expect(await found()).to.equal(undefined);
  });

  it("forgets its outcome with its subject, of its account alone, and can be taken over at once", async () => {
    const others = [
      { ...record, id: `${ACCOUNT}.${newKey()}`, subject: "cand_other" },
      { ...record, id: `acct_other.${newKey()}`, accountId: "acct_other" },
    ];
    for (const each of others) await store.insert(each);
    for (const each of [record, ...others]) await store.finish(each, OUTCOME);
    await store.forgetOutcomes(ACCOUNT, SUBJECT);
    expect(await found()).to.include({ outcome: undefined, leaseUntil: 0, forgotten: 1 });
    for (const { accountId, id } of others)
      expect((await store.find(accountId, id))?.outcome).to.deep.equal(Buffer.from(OUTCOME));
    await store.replaceOutcomes(ACCOUNT, SUBJECT, new TextEncoder().encode("gone"));
    expect((await found())?.outcome).to.deep.equal(Buffer.from("gone"));
    for (const { accountId, id } of others)
      expect((await store.find(accountId, id))?.outcome).to.deep.equal(Buffer.from(OUTCOME));
  });

  it("is not removed for its age if the key was used again after it was found", async () => {
    const { mongo } = bench;
    /** Uses the key again right after the first search. */
    const raced: Mongo = {
      ...mongo,
      async bounded(name, operation) {
        const result = await mongo.bounded(name, operation);
        if (name.startsWith("find")) await store.swap(record, { ...record, createdAt: bench.clock.time + 1_000 });
        return result;
      },
    };
    const { signal } = new AbortController();
    expect(await new IdempotencyStore(raced).removeOlderThan(bench.clock.time + 1, signal)).to.equal(0);
    expect(await found()).to.include({ createdAt: bench.clock.time + 1_000 });
  });
});
