import { DOCUMENT_MOVES } from "./moves.ts";
import type { CandidateRecord, DocumentRecord } from "./record.ts";

type Expiring = Pick<DocumentRecord, "state" | "expires_on">;

/**
 * Moves accepted documents to expired if their expires_on is before `today`. Returns the same record if there are none.
 * Also applies to withdrawn candidates, because no client makes this change.
 * @param today the date in UTC. A document is valid until the end of its expires_on.
 */
export function expired(record: CandidateRecord, today: string, now: string): CandidateRecord {
  const isOver = ({ state, expires_on }: Expiring) => expires(state) && expires_on !== null && expires_on < today;
  if (!record.documents.some(isOver)) return record;
  return {
    ...record,
    documents: record.documents.map((document) =>
      isOver(document) ? { ...document, state: DOCUMENT_MOVES.expiry.to, updated_at: now } : document,
    ),
  };
}

function expires(state: DocumentRecord["state"]): boolean {
  return DOCUMENT_MOVES.expiry.from.includes(state);
}

/** Returns the earliest expires_on of the accepted documents, or null if none of them expires. */
export function nextExpiry(documents: readonly Expiring[]): string | null {
  const days = documents.flatMap(({ state, expires_on }) =>
    expires(state) && expires_on !== null ? [expires_on] : [],
  );
  return days.toSorted()[0] ?? null;
}
