import { author } from "../support/records.ts";
import { CandidateStore } from "../../src/candidates/store.ts";
import { newReference } from "../../src/candidates/references.ts";
import { feedPosition } from "../../src/candidates/feed-clock.ts";
import { type Stored } from "../../src/candidates/stored.ts";
import { expect } from "chai";
import { newTypeId } from "../../src/infra/ids.ts";
import type { Mongo } from "../../src/infra/mongo.ts";
import { createIndexes } from "../../src/infra/indexes.ts";
import { candidateWithExpiry } from "../sweeps/support.ts";
import { useDatabase } from "../support/use-service.ts";

const ACCOUNT = "acct_1";
const NOW = Date.parse("2026-11-21T12:00:00Z");

/** Two replicas write the same candidate. A change must not move it back in the feed, where readers have been. */
describe("the place in the feed that a write takes", () => {
  const mongo = useDatabase();
  const stores = Object.fromEntries(
    Object.entries({ behind: NOW - 3_600_000, same: NOW }).map(([name, now]) => [name, { now: () => now }]),
  );
  let first: CandidateStore;
  before(async () => {
    first = new CandidateStore(mongo, { now: () => NOW });
    await createIndexes(mongo.db, [first.reader]);
  });

  async function storedOf(_id: string): Promise<Stored> {
    return (await mongo.db.collection<Stored>("candidates").findOne({ _id }))!;
  }

  const WRITES: Record<string, (store: CandidateStore, id: string) => Promise<unknown>> = {
    "a change": (store, id) => store.change(author(ACCOUNT), id, (record) => ({ ...record, name: "Ann" })),
    "a deletion": (store, id) => store.erase(ACCOUNT, id, "key_1", () => undefined),
    "an expiry": (store) => store.batches.expire("2026-11-21"),
  };
  for (const [what, write] of Object.entries(WRITES)) {
    for (const [name, clock] of Object.entries(stores)) {
      it(`is after the one before: ${what}, by a replica whose clock is ${name}`, async () => {
        const { id } = await first.insert(candidateWithExpiry(ACCOUNT, "2026-11-20"), author());
        const before = await storedOf(id);
        await write(new CandidateStore(mongo, clock), id);
        const after = await storedOf(id);
        expect(after.version).to.equal(2);
        expect(after.change > before.change, `${after.change} after ${before.change}`).to.equal(true);
        expect(after.updated_at > before.updated_at, `${after.updated_at} after ${before.updated_at}`).to.equal(true);
        const { rows } = await first.reader.feed({ accountId: ACCOUNT, after: before.change, limit: 10 });
        expect(rows.map(({ version }) => version)).to.deep.equal([2]);
        await mongo.db.collection("candidates").deleteMany({});
      });
    }
  }

  it("is taken after the look-ups of its references are written, however long that takes", async () => {
    let now = NOW;
    const { client, db } = mongo;
    const bounded: Mongo["bounded"] = async (name, operation) => {
      const result = await mongo.bounded(name, operation);
      if (name === "insert reference_index") now += 3_000;
      return result;
    };
    const through: Mongo = { client, db, bounded, isLate: () => false, close: () => mongo.close() };
    const store = new CandidateStore(through, { now: () => now });
    const draft = candidateWithExpiry(ACCOUNT, "2090-01-31");
    const given = { id: newTypeId("ref"), now: "2026-11-21T12:00:00.000Z", started: true };
    const { id } = await store.insert({ ...draft, references: [newReference({}, given)] }, author());
    expect((await storedOf(id)).change).to.equal(`${feedPosition(NOW + 3_000)}.${id}`);
    const added = newReference({}, { ...given, id: newTypeId("ref") });
    await store.change(author(ACCOUNT), id, (record) => ({ ...record, references: [...record.references, added] }));
    expect((await storedOf(id)).change).to.equal(`${feedPosition(NOW + 6_000)}.${id}`);
  });
});
