import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Mongo } from "../infra/mongo.ts";
import { type Retained, unlessErased } from "./erasure.ts";
import type { CandidateReader } from "./reader.ts";
import type { CandidateKey } from "./record.ts";
import { keyOf, type Stored } from "./stored.ts";
import { searchable } from "./words.ts";

type RetainedRow = Retained & Pick<Stored, "_id" | "change">;
const MEMBERS = { change: 1, state: 1, hold: 1, version: 1, updated_at: 1, retention: 1 };
const PAGE = 100;

export type SweepStore = ReturnType<typeof sweepStore>;

/** Finds candidates for the sweeps of retention and of words. Every function may throw problem store_unavailable. */
export function sweepStore(mongo: Mongo, reader: Pick<CandidateReader, "get" | "unreadable">) {
  const candidates = new BoundedCollection<Stored>(mongo, "candidates");

  /** Returns candidates of all other accounts that are noted as due, the most overdue first, without those that cannot be read. */
  async function due(now: string, limit: number, without: readonly string[]): Promise<CandidateKey[]> {
    const noted = { "retention.erases_at": { $gt: "", $lte: now } };
    const filter = { ...noted, _id: { $nin: reader.unreadable() }, account: { $nin: without } };
    const options = { sort: { "retention.erases_at": 1 }, limit, projection: { account: 1 } } as const;
    return (await candidates.find(filter, options)).map(keyOf);
  }

  /** Yields the candidates of an account between two feed positions, page by page, and the position up to which a page goes. */
  async function* pages(accountId: string, from: string, to: string) {
    for (let after = from; after < to;) {
      const filter = { account: accountId, change: { $gt: after, $lte: to } };
      const options = { sort: { change: 1 }, limit: PAGE, projection: MEMBERS } as const;
      const found = await candidates.find<RetainedRow>(filter, options);
      after = found.length < PAGE ? to : found.at(-1)!.change;
      yield { rows: found.filter(({ state }) => state !== "deleted"), after };
    }
  }

  /** Finds candidates of all accounts that have no words for the search yet, because 0.1.0 wrote them. */
  async function wordless(limit: number): Promise<CandidateKey[]> {
    return (await candidates.find({ words_form: null }, { limit, projection: { account: 1 } })).map(keyOf);
  }

  /** Adds the words, unless the candidate was changed since. The row in the feed stays as it is. Returns whether they were added. */
  async function addWords({ accountId, id }: CandidateKey): Promise<boolean> {
    const record = await unlessErased(reader.get(accountId, id)); // one that cannot be read gets none until it is written
    const version = record === undefined ? {} : { version: record.version };
    const filter = { _id: id, account: accountId, words_form: null, ...version };
    return candidates.updateOne(filter, { $set: searchable(record ?? {}) });
  }

  return { due, pages, wordless, addWords };
}
