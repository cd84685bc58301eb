import type { CandidateRecord, DocumentRecord } from "./record.ts";

type Expiring = Pick<DocumentRecord, "state" | "expires_on">;

/**
 * The candidate with its accepted documents of an earlier expires_on expired; itself where there are none. Being withdrawn
 * does not stop it: it is the calendar's doing, not a client's.
 * @param today the date in UTC; a document is good until the end of its expires_on.
 */
export function expired(record: CandidateRecord, today: string, now: string): CandidateRecord {
  const isOver = ({ state, expires_on }: Expiring) => state === "accepted" && expires_on !== null && expires_on < today;
  if (!record.documents.some(isOver)) return record;
  return {
    ...record,
    documents: record.documents.map((document) =>
      isOver(document) ? { ...document, state: "expired", updated_at: now } : document,
    ),
  };
}

/** The day with whose end the first of these documents expires; null where none of them will. */
export function nextExpiry(documents: readonly Expiring[]): string | null {
  const days = documents.flatMap(({ state, expires_on }) =>
    state === "accepted" && expires_on !== null ? [expires_on] : [],
  );
  return days.toSorted()[0] ?? null;
}
