import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Mongo } from "../infra/mongo.ts";
import { type Found, isTombstone } from "./erasure.ts";
import { CHUNK, entriesIn, linesIn, withoutOldest } from "./history.ts";
import type { HistoryEntry } from "./history-schema.ts";
import type { CandidateReader } from "./reader.ts";
import type { CandidateKey, CandidateRecord } from "./record.ts";

/** Maximum number of entries that are read together. A client can make thousands a day, and to parse 5,000 takes 10 ms. */
export const MAX_TOGETHER = 5_000;

/** Entries that have left their record: CHUNK of them, whatever the record's later versions have. */
interface Stored {
  /** The candidate, and the number of the chunk, from 0. */
  _id: string;
  account: string;
  candidate: string;
  n: number;
  lines: string;
}

export type HistoryStore = ReturnType<typeof historyStore>;

/** What is older than the history in the records. Every function may throw problem store_unavailable. */
export function historyStore(mongo: Mongo, reader: Pick<CandidateReader, "find">) {
  const chunks = new BoundedCollection<Stored>(mongo, "history");
  const indexes = [{ collection: "history", indexes: [{ key: { account: 1, candidate: 1 } }] }];

  const remove = ({ accountId, id }: CandidateKey) => chunks.deleteMany({ account: accountId, candidate: id });

  /** Makes room in a record that is about to be written: stores its oldest entries first. Two round trips, or none. */
  async function roomy<F extends Found>(found: F): Promise<F> {
    const without = withoutOldest(found);
    if (without === undefined) return found;
    const { id, accountId } = found;
    const writes = without.chunks.map(({ n, lines }) => {
      const _id = `${id}/${n}`;
      const replacement = { account: accountId, candidate: id, n, lines };
      return { replaceOne: { filter: { _id }, replacement, upsert: true } };
    });
    await chunks.write("update", writes);
    const now = await reader.find(accountId, id);
    if (now === null || isTombstone(now)) await remove(found); // its erasure may have looked before
    return without.record;
  }

  /** Returns entries of a record, the oldest first: from number `begin`, counted from 0, to before `end`. */
  async function entries({ accountId, id, history }: CandidateRecord, begin: number, end: number) {
    const { moved, lines } = history;
    const inRecord = linesIn(lines).slice(Math.max(begin - moved, 0), Math.max(end - moved, 0));
    if (begin >= moved) return entriesIn(inRecord);
    const n = { $gte: Math.floor(begin / CHUNK), $lt: Math.ceil(Math.min(end, moved) / CHUNK) };
    const found = await chunks.find({ account: accountId, candidate: id, n }, { sort: { n: 1 } });
    const older: string[] = found.flatMap((chunk) => linesIn(chunk.lines));
    const first = n.$gte * CHUNK;
    return entriesIn([...older.slice(begin - first, Math.min(end, moved) - first), ...inRecord]);
  }

  /** Returns the latest entries of a record, at most MAX_TOGETHER, the newest first, and whether they are all. */
  async function latest(record: CandidateRecord): Promise<{ history: HistoryEntry[]; history_complete: boolean }> {
    const { count } = record.history;
    const begin = Math.max(count - MAX_TOGETHER, 0);
    return { history: (await entries(record, begin, count)).toReversed(), history_complete: begin === 0 };
  }

  return { indexes, remove, roomy, entries, latest };
}
