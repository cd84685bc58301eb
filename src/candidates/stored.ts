import { BSON } from "mongodb";
import { problem } from "../problems.ts";
import { nextExpiry } from "./expire.ts";
import type { CandidateRecord, DocumentRecord, ReferenceRecord } from "./record.ts";

/** A whole candidate, documents' bytes not counted, stays well under the 16 MiB that MongoDB takes. */
export const MAX_CANDIDATE_BYTES = 8 * 1024 * 1024;

/** Names that clients choose, and nested values, are kept as JSON text: BSON would refuse or change some (`$`, dots, NUL). */
export interface Stored extends Omit<CandidateRecord, "id" | "accountId" | "metadata" | "documents" | "references"> {
  _id: string;
  account: string;
  /** Sortable text, new at each write: the place in the account's feed. */
  change: string;
  /** The day with whose end the next accepted document expires, for the sweep's index. */
  next_expiry: string | null;
  /** Bytes of the record, so that a page of the feed can be bounded. */
  size: number;
  metadata: string;
  documents: (Omit<DocumentRecord, "metadata"> & { metadata: string })[];
  references: (Omit<ReferenceRecord, "metadata" | "response"> & { metadata: string; response: string })[];
}

/** Where a change made at `epochMs` stands in the feed, before any candidate's of that millisecond. */
export function feedPosition(epochMs: number): string {
  return String(Math.max(epochMs, 0)).padStart(15, "0");
}

/** What the compliance pack shows of a candidate. */
export function packFacts({
  docs_chase_attempts: _d,
  reference_chase_attempts: _r,
  metadata: _m,
  ...facts
}: CandidateRecord): string {
  return JSON.stringify({ ...facts, version: 0, pack_version: 0, state: 0, updated_at: 0 });
}

/** A record as it is kept, with its place in the feed. @throws problem payload_too_large */
export function encode(record: CandidateRecord, now: number): Stored {
  const { id, accountId, ...rest } = record;
  const stored: Stored = {
    ...rest,
    _id: id,
    account: accountId,
    change: `${feedPosition(now)}.${id}`,
    next_expiry: nextExpiry(record.documents),
    size: 0,
    metadata: JSON.stringify(record.metadata),
    documents: record.documents.map((document) => ({ ...document, metadata: JSON.stringify(document.metadata) })),
    references: record.references.map((reference) => ({
      ...reference,
      metadata: JSON.stringify(reference.metadata),
      response: JSON.stringify(reference.response),
    })),
  };
  stored.size = BSON.calculateObjectSize(stored);
  if (stored.size > MAX_CANDIDATE_BYTES) {
    throw problem("payload_too_large", `A candidate's whole record may have at most ${MAX_CANDIDATE_BYTES} bytes.`);
  }
  return stored;
}

/** A kept record as it was written. */
export function decode({
  _id,
  account,
  change: _change,
  next_expiry: _next,
  size: _size,
  ...stored
}: Stored): CandidateRecord {
  return {
    ...stored,
    id: _id,
    accountId: account,
    metadata: JSON.parse(stored.metadata) as Record<string, string>,
    documents: stored.documents.map((document) => ({
      ...document,
      metadata: JSON.parse(document.metadata) as Record<string, string>,
    })),
    references: stored.references.map((reference) => ({
      ...reference,
      metadata: JSON.parse(reference.metadata) as Record<string, string>,
      response: JSON.parse(reference.response) as Record<string, unknown> | null,
    })),
  };
}
