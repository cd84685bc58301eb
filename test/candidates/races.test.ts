import { author } from "../support/records.ts";
import { newReference } from "../../src/candidates/references.ts";
import { CandidateStore } from "../../src/candidates/store.ts";
import type { CandidateRecord, Draft } from "../../src/candidates/record.ts";
import { expect } from "chai";
import { SharedClock } from "../../src/infra/clock.ts";
import { createIndexes } from "../../src/infra/indexes.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { operationsDuring } from "../support/operations.ts";
import { candidateWithExpiry } from "../sweeps/support.ts";
import { useDatabase } from "../support/use-service.ts";

const ACCOUNT = "acct_1";

describe("writes of an external_id that meet", () => {
  const mongo = useDatabase();
  let store: CandidateStore;
  let other: CandidateStore;
  before(async () => {
    [store, other] = [new CandidateStore(mongo, new SharedClock()), new CandidateStore(mongo, new SharedClock())];
    await createIndexes(mongo.db, [store.reader]);
  });

  const draft = (external_id: string | null): Draft => ({
    ...candidateWithExpiry(ACCOUNT, "2090-01-31"),
    id: newTypeId("cand"),
    external_id,
  });
  const named = (id: string, external_id: string | null) =>
    other.change(author(ACCOUNT), id, (record) => ({ ...record, external_id }));

  it("do not refuse a candidate because of itself", async () => {
    const holder = await store.insert(draft("taken"), author());
    const { id } = await store.insert(draft(null), author());
    const fresh = new CandidateStore(mongo, new SharedClock()); // has not seen the candidate, so it reads it first
    const holderOf = fresh.externalIds.holderOf.bind(fresh.externalIds);
    fresh.externalIds.holderOf = async (...which) => {
      await named(holder.id, null);
      await named(id, "taken");
      return holderOf(...which);
    };
    const changed = await fresh.change(author(ACCOUNT), id, (record) => ({
      ...record,
      external_id: "taken",
      name: "Ann",
    }));
    expect(changed).to.include({ external_id: "taken", name: "Ann" });
  });

  it("begin with the candidate as it was known, and follow what others wrote since", async () => {
    const known = await store.insert(draft(null), author());
    const rename = (name: string, from: CandidateRecord) =>
      store.change(author(ACCOUNT), known.id, (record) => ({ ...record, name: `${name}, after ${record.name}` }), from);
    const first = await operationsDuring(() => rename("Bob", { ...known, name: "Ann" }));
    expect(first).to.deep.equal(["update candidates"]);
    expect(await rename("Eve", known)).to.include({ name: "Eve, after Bob, after Ann", version: 3 });
    const same = await store.change(author(ACCOUNT), known.id, (record) => record, known);
    expect(same).to.include({ name: "Eve, after Bob, after Ann", version: 3 });
  });

  it("leave nothing to settle if one is refused: MongoDB has answered", async () => {
    await store.insert(draft("used"), author());
    const error = await store.insert(draft("used"), author()).catch((reason: { code?: string }) => reason);
    expect(error).to.include({ code: "external_id_taken" });
    expect(store.inFlight.state().unsettled).to.equal(0);
  });
});

describe("a feed position", () => {
  const mongo = useDatabase();

  it("holds the checkpoint back from the moment that it is reserved", async () => {
    const store = new CandidateStore(mongo, new SharedClock());
    const reserve = store.feedClock.reserve.bind(store.feedClock);
    let isHeld = false;
    store.feedClock.reserve = (after) => {
      const position = reserve(after);
      queueMicrotask(() => (isHeld = store.inFlight.earliest(Infinity) === position.at));
      return position;
    };
    const draft = candidateWithExpiry(ACCOUNT, "2020-01-31");
    const { id } = draft;
    const reference = newReference({}, { id: newTypeId("ref"), now: draft.documents[0]!.created_at, started: true });
    const writes: Record<string, () => Promise<unknown>> = {
      insert: () => store.insert(draft, author()),
      expiry: () => store.batches.expire("2020-02-01"),
      change: () => store.change(author(ACCOUNT), id, (record) => ({ ...record, name: "Ann" })),
      address: () => store.change(author(ACCOUNT), id, (record) => ({ ...record, email: "ann@example.com" })),
      reference: () => store.change(author(ACCOUNT), id, (record) => ({ ...record, references: [reference] })),
      erasure: () => store.erase(ACCOUNT, id, "key_1", () => undefined),
    };
    for (const [what, write] of Object.entries(writes)) {
      isHeld = false;
      await write();
      expect(isHeld, what).to.equal(true);
    }
  });
});

describe("an insertion that is repeated", () => {
  const mongo = useDatabase();

  it("returns the candidate that is there, with what was changed since", async () => {
    const store = new CandidateStore(mongo, new SharedClock());
    const draft = { ...candidateWithExpiry(ACCOUNT, "2090-01-31"), external_id: "repeated" };
    await store.insert(draft, author());
    const changed = await store.change(author(ACCOUNT), draft.id, (record) => ({ ...record, name: "Ann" }));
    expect(await store.insert(draft, author())).to.deep.equal(changed);
  });
});

describe("an insertion that is repeated after its candidate was deleted", () => {
  const mongo = useDatabase();

  it("says that the candidate was deleted, and brings nothing back", async () => {
    const store = new CandidateStore(mongo, new SharedClock());
    const draft = candidateWithExpiry(ACCOUNT, "2090-01-31");
    await store.insert(draft, author());
    await store.erase(ACCOUNT, draft.id, "key_1", () => undefined);
    const error = await store.insert(draft, author()).catch((reason: { code?: string }) => reason);
    expect(error).to.include({ code: "candidate_deleted" });
  });
});

describe("the look-ups of references whose first attempt was interrupted", () => {
  const mongo = useDatabase();

  it("are completed by the next attempt, though some of them are there", async () => {
    const { references } = new CandidateStore(mongo, new SharedClock());
    const owner = { accountId: ACCOUNT, id: newTypeId("cand") };
    const facts = { now: "2026-11-21T00:00:00.000Z", started: false };
    const [one, two] = [0, 1].map(() => newReference({}, { id: newTypeId("ref"), ...facts }));
    await references.around(owner, [one!], () => Promise.resolve());
    await references.around(owner, [one!, two!], () => Promise.resolve());
    for (const each of [one!, two!]) expect(await references.candidateOf(ACCOUNT, each.id)).to.equal(owner.id);
  });
});
