import type { History, HistoryQuery } from "./history-schema.ts";
import type { HistoryStore } from "./history-store.ts";
import type { CandidateReader } from "./reader.ts";

export type HistoryPages = ReturnType<typeof historyPages>;

/** Reads what changed of a candidate, the newest first. A cursor is the number of the oldest entry that was read, from 1. */
export function historyPages(reader: Pick<CandidateReader, "get">, history: HistoryStore) {
  /** One round trip; one more for entries that have left the record. @throws problems not_found, candidate_deleted */
  return async (accountId: string, id: string, { limit, cursor }: HistoryQuery): Promise<History> => {
    const record = await reader.get(accountId, id);
    const end = Math.min(Number(cursor || Infinity) - 1, record.history.count);
    const begin = Math.max(end - limit, 0);
    const data = (await history.entries(record, begin, end)).toReversed();
    return { object: "list", data, has_more: begin > 0, cursor: begin > 0 ? String(begin + 1) : null };
  };
}
