import { author } from "../support/records.ts";
import { withoutPart } from "../../src/candidates/parts.ts";
import { newReference } from "../../src/candidates/references.ts";
import { CandidateStore } from "../../src/candidates/store.ts";
import { feedPosition } from "../../src/candidates/feed-clock.ts";

import { isTombstone } from "../../src/candidates/erasure.ts";
import { expect } from "chai";
import { newTypeId } from "../../src/infra/ids.ts";
import { createIndexes } from "../../src/infra/indexes.ts";
import type { Mongo } from "../../src/infra/mongo.ts";
import { problem } from "../../src/problems.ts";
import { candidateWithExpiry } from "../sweeps/support.ts";
import { useDatabase } from "../support/use-service.ts";

describe("a write that was answered with 503 and that MongoDB has made, or makes later", () => {
  const mongo = useDatabase();
  let store: CandidateStore;
  let account: string;
  /** Called instead of the next operation with this name. Its caller gets 503. */
  let lose: { name: string; instead: (run: () => Promise<unknown>) => Promise<void> } | undefined;
  /** Whether the next write that MongoDB has made counts as one that took too long. */
  let late: boolean;
  /** Whether the second of the next two changes is not made, and its caller gets 503. */
  let loseSecond: boolean;
  let through: Mongo;
  /** Called after each look for a candidate. */
  let looked: () => Promise<void>;
  /** Milliseconds since the epoch. Readers have passed every place up to now when a write is settled. */
  let now: number;

  before(() => createIndexes(mongo.db, [new CandidateStore(mongo, { now: () => 0 }).reader]));
  beforeEach(() => {
    account = newTypeId("acct");
    lose = undefined;
    late = loseSecond = false;
    looked = () => Promise.resolve();
    now = Date.parse("2026-11-21T00:00:00Z");
    const bounded: Mongo["bounded"] = async (name, operation) => {
      if (lose?.name === name) {
        const { instead } = lose;
        lose = undefined;
        await instead(() => mongo.bounded(name, operation));
        throw problem("store_unavailable", "No answer.");
      }
      const result = await mongo.bounded(name, operation);
      if (name === "update candidates" && loseSecond) {
        loseSecond = false;
        lose = { name, instead: () => Promise.resolve() };
      }
      if (name === "find candidates") await looked();
      return result;
    };
    const { client, db } = mongo;
    const isLate = () => {
      const wasLate = late;
      late = false;
      return wasLate;
    };
    const close = mongo.close.bind(mongo);
    through = { client, db, isLate, close, bounded };
    store = new CandidateStore(through, { now: () => now });
  });

  /** Runs a write, and expects it to fail because MongoDB does not respond. */
  async function lost(write: () => Promise<unknown>): Promise<void> {
    const error = await write().then(
      () => undefined,
      (reason: { code?: string }) => reason,
    );
    expect(error?.code).to.equal("store_unavailable");
  }

  /** Settles what is open, and returns the rows that a reader gets who has passed every place until `passed`. */
  async function rowsAfter(passed: number): Promise<Record<string, unknown>[]> {
    expect(await store.inFlight.settled(20_000), "settled").to.equal(true);
    const { rows } = await store.reader.feed({ accountId: account, after: feedPosition(passed + 1), limit: 10 });
    return rows.map(({ json }) => JSON.parse(String(json)) as Record<string, unknown>);
  }

  it("is written again with a place that no reader has passed: a change", async () => {
    const { id } = await store.insert(candidateWithExpiry(account, "2090-01-31"), author());
    lose = { name: "update candidates", instead: async (run) => void (await run()) };
    now += 1_000;
    await lost(() => store.change(author(account), id, (record) => ({ ...record, name: "Ann" })));
    const passed = now;
    now += 60_000;
    const [row, ...more] = await rowsAfter(passed);
    expect(row).to.include({ id, name: "Ann", version: 3 });
    expect(more).to.deep.equal([]);
    expect((await store.reader.get(account, id)).name).to.equal("Ann");
  });

  it("is told to webhooks that want the state which it reached, although the client's next try changes nothing", async () => {
    const { id } = await store.insert(candidateWithExpiry(account, "2090-01-31"), author());
    await store.changedAccounts.write();
    const written = await store.changedAccounts.read();
    lose = { name: "update candidates", instead: async (run) => void (await run()) };
    const withdraw = () =>
      store.change(author(account), id, (record) => (record.withdrawn ? record : { ...record, withdrawn: true }));
    await lost(withdraw);
    expect(await store.inFlight.settled(20_000), "settled").to.equal(true);
    expect(await withdraw()).to.include({ state: "withdrawn" });
    await store.changedAccounts.write();
    const later = (await store.changedAccounts.read()).filter(({ _id }) => written.every((note) => note._id !== _id));
    const noted = later.flatMap(({ accounts }) => accounts ?? []).filter((each) => each.account === account);
    expect(noted.flatMap(({ states }) => states)).to.include("withdrawn");
  });

  it("is written again with a place that no reader has passed: a deletion", async () => {
    const { id } = await store.insert(candidateWithExpiry(account, "2090-01-31"), author());
    lose = { name: "update candidates", instead: async (run) => void (await run()) };
    now += 1_000;
    await lost(() => store.erase(account, id, "key_1", () => undefined));
    const passed = now;
    now += 60_000;
    const [row] = await rowsAfter(passed);
    expect(row).to.include({ id, deleted: true, version: 3 });
    const found = await store.reader.find(account, id);
    expect(found !== null && isTombstone(found)).to.equal(true);
  });

  it("keeps the look-ups of its references, because they may be in use", async () => {
    const { id } = await store.insert(candidateWithExpiry(account, "2090-01-31"), author());
    lose = { name: "update candidates", instead: async (run) => void (await run()) };
    const added = newReference({}, { id: newTypeId("ref"), now: "2026-11-21T00:00:00.000Z", started: true });
    await lost(() => store.change(author(account), id, (record) => ({ ...record, references: [added] })));
    expect(await store.references.candidateOf(account, added.id)).to.equal(id);
    expect(await store.inFlight.settled(20_000)).to.equal(true);
  });

  it("is looked for again if the candidate is not there yet, and is then written again", async () => {
    let land = (): Promise<unknown> => Promise.resolve();
    let looks = 0;
    lose = {
      name: "insert candidates",
      instead: (run) => {
        land = run;
        return Promise.resolve();
      },
    };
    looked = async () => {
      if (++looks === 1) await land(); // it lands after the first look
    };
    const draft = candidateWithExpiry(account, "2090-01-31");
    await lost(() => store.insert(draft, author()));
    const passed = now;
    now += 60_000;
    const [row] = await rowsAfter(passed);
    expect(row).to.include({ id: draft.id, version: 2 });
  });

  it("changes nothing if it lands after the candidate was written again", async () => {
    const { id } = await store.insert({ ...candidateWithExpiry(account, "2090-01-31"), name: "Ann" }, author());
    let land = (): Promise<unknown> => Promise.resolve();
    lose = {
      name: "update candidates",
      instead: (run) => {
        land = run;
        return Promise.resolve();
      },
    };
    await lost(() => store.change(author(account), id, (record) => ({ ...record, name: "Bob" })));
    expect(await store.inFlight.settled(20_000)).to.equal(true);
    await land();
    expect(await store.reader.get(account, id)).to.include({ name: "Ann", version: 2 });
  });

  const LATE: Record<string, (id: string) => Promise<{ version: number }>> = {
    "a change": (id) => store.change(author(account), id, (record) => ({ ...record, name: "Ann" })),
    "a deletion": (id) => store.erase(account, id, "key_1", () => undefined),
  };
  for (const [what, write] of Object.entries(LATE)) {
    it(`is written again at once if it took too long: ${what}`, async () => {
      const { id } = await store.insert(candidateWithExpiry(account, "2090-01-31"), author());
      late = true;
      expect((await write(id)).version).to.equal(3);
      expect(store.inFlight.state().unsettled).to.equal(0);
    });

    it(`is written again later if it took too long and MongoDB then does not respond: ${what}`, async () => {
      const { id } = await store.insert(candidateWithExpiry(account, "2090-01-31"), author());
      late = true;
      loseSecond = true;
      await lost(() => write(id));
      const passed = now;
      now += 60_000;
      const [row] = await rowsAfter(passed);
      expect(row).to.include({ id, version: 3 });
    });
  }

  it("is written again later if it took too long and MongoDB then cannot be read: a deletion of a document", async () => {
    const { id, documents } = await store.insert(candidateWithExpiry(account, "2090-01-31"), author());
    late = true;
    const by = { key: "key_1", at: "2026-11-21T00:00:00.000Z" };
    const change = () =>
      store.change(author(account), id, (record) => {
        lose = { name: "find candidates", instead: () => Promise.resolve() }; // the look after the write
        return withoutPart(record, "documents", documents[0]!.id, by);
      });
    await lost(change);
    const passed = now;
    now += 60_000;
    const [row] = await rowsAfter(passed);
    expect(row).to.deep.include({ id, version: 3, documents: [] });
  });

  it("is written again later if it took too long: an expiry", async () => {
    const { id } = await store.insert(candidateWithExpiry(account, "2020-01-31"), author());
    late = true;
    expect(await store.batches.expire("2020-02-01")).to.equal(1);
    const passed = now;
    now += 60_000;
    const [row] = await rowsAfter(passed);
    expect(row).to.include({ id, version: 3 });
  });
});
