import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Mongo } from "../infra/mongo.ts";
import { unlessErased } from "./erasure.ts";
import type { CandidateReader } from "./reader.ts";
import type { CandidateKey } from "./record.ts";
import type { Stored } from "./stored.ts";
import { searchable } from "./words.ts";

export type WordsStore = ReturnType<typeof wordsStore>;

/** Adds the words of a search to candidates that 0.1.0 wrote. Every function may throw problem store_unavailable. */
export function wordsStore(mongo: Mongo, reader: Pick<CandidateReader, "get">) {
  const candidates = new BoundedCollection<Stored>(mongo, "candidates");

  /** Finds candidates of all accounts that have no words yet. */
  async function missing(limit: number): Promise<CandidateKey[]> {
    const found = await candidates.find({ words_form: null }, { limit, projection: { account: 1 } });
    return found.map(({ _id, account }) => ({ accountId: account, id: _id }));
  }

  /** Adds the words, unless the candidate was changed since. The row in the feed stays as it is. Returns whether they were added. */
  async function add({ accountId, id }: CandidateKey): Promise<boolean> {
    const record = await unlessErased(reader.get(accountId, id)); // one that cannot be read gets none until it is written
    const version = record === undefined ? {} : { version: record.version };
    const filter = { _id: id, account: accountId, words_form: null, ...version };
    return candidates.updateOne(filter, { $set: searchable(record ?? {}) });
  }

  return { missing, add };
}
