import { BSON } from "mongodb";
import { problem } from "../problems.ts";
import { nextExpiry } from "./expire.ts";
import { NO_OUTREACH, planned, unchased } from "./planned.ts";
import {
  type CandidateRecord,
  type DocumentRecord,
  type Erasure,
  type OutreachRecord,
  type ReferenceRecord,
  type Removed,
} from "./record.ts";
import type { CandidateState } from "./schema.ts";
import { MAX_ROW_RECORD_BYTES, storedRow, type StoredRow } from "./row.ts";
import type { Tombstone } from "./tombstone.ts";

/**
 * Maximum size of a candidate's record, without the bytes of its files and without its row. Each request reads or writes
 * the whole record, so this bounds how long one request keeps the event loop. A candidate with 200 documents and 50
 * references with responses of 16 KiB has 1 MiB.
 */
export const MAX_CANDIDATE_BYTES = 2 * 1024 * 1024;

/**
 * A candidate as MongoDB stores it. Objects whose member names the client chooses are stored as JSON text: BSON would
 * refuse or change some names (`$`, dots, NUL).
 */
export interface Stored
  extends
    Omit<
      CandidateRecord,
      "id" | "accountId" | "state" | "metadata" | "documents" | "references" | "removed" | "erasure" | "outreach"
    >,
    // Absent in large records, in tombstones, and in records of 0.1.0.
    Partial<StoredRow> {
  _id: string;
  /** Copy of the derived state, for the index alone. A tombstone has `deleted`, which no filter asks for. */
  state: CandidateState | "deleted";
  account: string;
  /** The place in the account's feed: sortable text, new at each write. */
  change: string;
  /** The earliest expires_on of an accepted document, for the index of the expiry sweep. */
  next_expiry: string | null;
  /** Only a tombstone has this. Its other members are empty, in the form that 0.1.0 can read. */
  deleted?: true;
  /** Absent if empty, and in records of 0.1.0. */
  removed?: readonly Removed[];
  /** Absent if nothing is left to remove. `at` is in an index, for the sweep. */
  erasure?: Erasure;
  /** Absent in tombstones, and in records of 0.1.0. `look_at` is in an index, for the sender. */
  outreach?: OutreachRecord;
  /** The record's size in bytes of BSON, without the row. Limits the size of a page of the feed. */
  size: number;
  metadata: string;
  documents: (Omit<DocumentRecord, "metadata"> & { metadata: string })[];
  references: (Omit<ReferenceRecord, "metadata" | "response"> & { metadata: string; response: string })[];
}

/** Returns a place in the feed before every change made in the millisecond `epochMs`. */
export function feedPosition(epochMs: number): string {
  return String(Math.max(epochMs, 0)).padStart(15, "0");
}

/**
 * Converts a record to its stored form, with its row.
 * @param now when the write takes its place in the feed, in milliseconds since the epoch.
 * @param before what it replaces. It may be too large already, from 0.1.0: then it may change, but not grow.
 * @throws problem payload_too_large
 */
export function encode(record: CandidateRecord, now: number, before?: CandidateRecord): Stored {
  const stored = checked(record, now, before);
  return stored.size > MAX_ROW_RECORD_BYTES ? stored : { ...stored, ...storedRow(record) };
}

/** Refuses what `encode` refuses. @throws problem payload_too_large */
export function checkSize(record: CandidateRecord, now: number): void {
  checked(record, now);
}

function checked(record: CandidateRecord, now: number, before?: CandidateRecord): Stored {
  const stored = toStored(record, now);
  if (stored.size <= MAX_CANDIDATE_BYTES) return stored;
  const sizeOfClients = (each: CandidateRecord) => toStored(unchased(each), now).size;
  const size = sizeOfClients(record);
  if (size > MAX_CANDIDATE_BYTES && (before === undefined || size > sizeOfClients(before))) {
    throw problem(
      "payload_too_large",
      `The candidate's record would have more than ${MAX_CANDIDATE_BYTES} bytes. Send less data.`,
    );
  }
  return stored;
}

function toStored(record: CandidateRecord, now: number): Stored {
  const { id, accountId, removed, erasure, ...rest } = record;
  const stored: Stored = {
    ...rest,
    ...(removed.length === 0 ? {} : { removed }),
    ...(erasure === null ? {} : { erasure }),
    _id: id,
    account: accountId,
    change: `${feedPosition(now)}.${id}`,
    next_expiry: nextExpiry(record.documents),
    size: 0,
    metadata: JSON.stringify(record.metadata),
    documents: record.documents.map(storedDocument),
    references: record.references.map(storedReference),
  };
  stored.size = BSON.calculateObjectSize(stored);
  return stored;
}

function storedDocument(document: DocumentRecord): Stored["documents"][number] {
  return { ...document, metadata: JSON.stringify(document.metadata) };
}

function storedReference(reference: ReferenceRecord): Stored["references"][number] {
  return { ...reference, metadata: JSON.stringify(reference.metadata), response: JSON.stringify(reference.response) };
}

/**
 * Converts a tombstone to its stored form.
 * @param now when the write takes its place in the feed, in milliseconds since the epoch.
 */
export function encodeTombstone(tombstone: Tombstone, now: number): Stored {
  const { id, accountId, version, updated_at, erasure } = tombstone;
  const stored: Stored = {
    _id: id,
    account: accountId,
    change: `${feedPosition(now)}.${id}`,
    state: "deleted",
    deleted: true,
    ...(erasure === null ? {} : { erasure }),
    version,
    updated_at,
    created_at: updated_at,
    ...NOTHING,
  };
  return { ...stored, size: BSON.calculateObjectSize(stored) };
}

const NOTHING = {
  pack_version: 1,
  external_id: null,
  name: null,
  first_name: null,
  last_name: null,
  email: null,
  phone: null,
  job_title: null,
  start_date: null,
  metadata: "{}",
  docs_chase_attempts: 0,
  reference_chase_attempts: 0,
  references_required: null,
  withdrawn: false,
  withdrawal_reason: null,
  documents: [],
  references: [],
  started_at: null,
  next_expiry: null,
  size: 0,
};

/** Converts a stored tombstone back; undefined if the candidate is not deleted. */
export function decodeTombstone(stored: Stored): Tombstone | undefined {
  if (stored.deleted !== true) return undefined;
  const { _id: id, account: accountId, version, updated_at, erasure = null } = stored;
  return { deleted: true, id, accountId, version, updated_at, erasure };
}

export function decode({
  _id,
  account,
  change: _change,
  next_expiry: _next,
  size: _size,
  row_form: _form,
  row_version: _version,
  row: _row,
  deleted: _deleted,
  removed,
  erasure,
  outreach,
  ...stored
}: Stored): CandidateRecord {
  const read: CandidateRecord = {
    ...stored,
    removed: removed ?? [],
    erasure: erasure ?? null,
    outreach: outreach ?? NO_OUTREACH,
    state: stored.state as CandidateState,
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
      response: JSON.parse(reference.response) as ReferenceRecord["response"],
    })),
  };
  return outreach === undefined ? planned(read, undefined, 0) : read;
}
