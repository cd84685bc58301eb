import { BSON } from "mongodb";
import { timestamp } from "../infra/clock.ts";
import { problem } from "../problems.ts";
import { type Found, isTombstone, type Tombstone } from "./erasure.ts";
import { positionOf } from "./feed-clock.ts";
import { NO_HISTORY } from "./history.ts";
import { nextExpiry } from "./states.ts";
import { NO_OUTREACH, noMail } from "./outreach.ts";
import type { CandidateRecord, DocumentRecord, Erasure, OutreachRecord, ReferenceRecord } from "./record.ts";
import { NEVER_CHASED, NO_FIELDS } from "./record.ts";
import { MAX_ROW_RECORD_BYTES, storedRow, type StoredRow } from "./rows.ts";
import type { CandidateState } from "./schema.ts";
import { type Searchable, searchable } from "./words.ts";

/**
 * Maximum size of a candidate's record, without the bytes of its files and without its row. Each request reads or writes
 * the whole record, so this bounds how long one request keeps the event loop. A candidate with 200 documents and 50
 * references with responses of 16 KiB has 1 MiB.
 */
export const MAX_CANDIDATE_BYTES = 2 * 1024 * 1024;

/** Members that differ from those of the record. Earlier versions do not know the last ones, and keep them. */
interface Own {
  /** Copy of the derived state, for the index alone. A tombstone has `deleted`, which no filter asks for. */
  state: CandidateState | "deleted";
  /** Absent if empty, and in records of 0.1.0. */
  removed?: CandidateRecord["removed"];
  /** Absent if nothing is left to remove. `at` is in an index, for the sweep. */
  erasure?: Erasure;
  /** Absent in tombstones, and in records of 0.1.0. `look_at` is in an index, for the sender. */
  outreach?: OutreachRecord;
  /** Absent in records of 0.1.0. */
  outreach_enabled?: boolean;
  /** Absent in records of 0.1.0. */
  language?: string | null;
  hold?: CandidateRecord["hold"];
  history?: CandidateRecord["history"];
  decisions?: string;
  metadata: string;
  documents: (Omit<DocumentRecord, "metadata"> & { metadata: string })[];
  references: (Omit<ReferenceRecord, "metadata" | "response" | "language"> & {
    metadata: string;
    response: string;
    language?: string | null;
  })[];
}

/**
 * A candidate as MongoDB stores it. Objects whose member names the client chooses are stored as JSON text: BSON would
 * refuse or change some names (`$`, dots, NUL). Large records, tombstones, and records of 0.1.0 have no row. Records of 0.1.0
 * have no words until a sweep adds them.
 */
export interface Stored
  extends Omit<CandidateRecord, "id" | "accountId" | keyof Own>, Own, Partial<StoredRow & Searchable> {
  _id: string;
  account: string;
  /** The position in the account's feed: sortable text, new at each write. */
  change: string;
  /** The earliest expires_on of an accepted document, for the index of the expiry sweep. */
  next_expiry: string | null;
  /** Only a tombstone has this. Its other members are empty, so that 0.1.0 can read it. */
  deleted?: true;
  /** The record's size in bytes of BSON, without the row, the words and the history. Limits the size of a page of the feed. */
  size: number;
}

/**
 * Converts a candidate or tombstone to its stored form, at a feed position. @throws problem payload_too_large
 * @param before what it replaces. A record of 0.1.0 may be too large already: it may change, but not grow.
 */
export function encode(found: Found, at: number, before?: Found): Stored {
  if (isTombstone(found)) return { ...storedTombstone(found, at), ...searchable({}) };
  const stored = { ...checkSize(found, at, before), ...searchable(found) };
  return stored.size > MAX_ROW_RECORD_BYTES ? stored : { ...stored, ...storedRow(found) };
}

/** Returns the stored form without its row. @throws as `encode` does. */
export function checkSize(record: CandidateRecord, at: number, before?: Found): Stored {
  const stored = storedRecord(record, at);
  if (stored.size <= MAX_CANDIDATE_BYTES) return stored;
  const sizeOfClients = (each: CandidateRecord) => storedRecord(unchased(each), at).size;
  const size = sizeOfClients(record);
  if (size <= MAX_CANDIDATE_BYTES) return stored;
  if (before !== undefined && !isTombstone(before) && size <= sizeOfClients(before)) return stored;
  const detail = `The candidate's record would have more than ${MAX_CANDIDATE_BYTES} bytes. Send less data.`;
  throw problem("payload_too_large", detail);
}

/**
 * Returns the record without the traces of reminders and of retention. The size limit counts this, so that no reminder fails
 * because a record is full. Reminders add at most about 40 kB.
 */
function unchased({ retention: _retention, ...record }: CandidateRecord): CandidateRecord {
  return {
    ...record,
    state: "action_required", // it follows from the references' states; this is the longest one
    outreach: NO_OUTREACH,
    decisions: {},
    outreach_enabled: true, // a full record can still be silenced, and kept
    hold: null,
    documents: record.documents.map((document) => ({ ...document, chase: NEVER_CHASED })),
    references: record.references.map((reference) => ({
      ...reference,
      chase: NEVER_CHASED,
      state: reference.state === "unresponsive" ? "requested" : reference.state,
    })),
  };
}

function storedRecord(record: CandidateRecord, at: number): Stored {
  const { id, accountId, removed, erasure, history, stated: _stated, ...rest } = record;
  const stored = measured({
    ...rest,
    ...(removed.length === 0 ? {} : { removed }),
    ...(erasure === null ? {} : { erasure }),
    _id: id,
    account: accountId,
    change: positionOf(at, id),
    next_expiry: nextExpiry(record.documents),
    metadata: JSON.stringify(record.metadata),
    decisions: JSON.stringify(record.decisions),
    documents: record.documents.map((document) => ({ ...document, metadata: JSON.stringify(document.metadata) })),
    references: record.references.map(({ language, ...reference }) => ({
      ...reference,
      ...(language === null ? {} : { language }), // 0.1.0 shows what is stored
      metadata: JSON.stringify(reference.metadata),
      response: JSON.stringify(reference.response),
    })),
  });
  return { ...stored, history };
}

function storedTombstone({ id, accountId, version, updated_at, erasure }: Tombstone, at: number): Stored {
  return measured({
    _id: id,
    account: accountId,
    change: positionOf(at, id),
    state: "deleted",
    deleted: true,
    ...(erasure === null ? {} : { erasure }),
    version,
    updated_at,
    created_at: updated_at,
    ...NO_FIELDS,
    metadata: "{}",
    docs_chase_attempts: 0,
    reference_chase_attempts: 0,
    documents: [],
    references: [],
    next_expiry: null,
  });
}

function measured(stored: Omit<Stored, "size">): Stored {
  return { ...stored, size: BSON.calculateObjectSize({ ...stored, size: 0 }) };
}

/** Returns what an erasure needs of a record that cannot be read: the files and references that are still found in it. */
export function salvaged(document: Uint8Array): Tombstone {
  const stored = BSON.deserialize(document, { validation: { utf8: false } }) as Stored;
  const { _id, account, version, updated_at, erasure } = stored;
  // What clients send is inside texts, where its quotes are escaped.
  const text = JSON.stringify(stored);
  const all = (pattern: RegExp) => Array.from(text.matchAll(pattern), ([, id]) => id!);
  const lists = [erasure?.deletions, erasure?.files, erasure?.references];
  return {
    deleted: true,
    id: _id,
    accountId: account,
    version,
    updated_at: timestamp(Date.parse(updated_at) || 0),
    erasure: erasure !== undefined && lists.every(Array.isArray) ? erasure : null,
    left: {
      isHeld: (stored.hold ?? null) !== null,
      files: all(/"file_id":"([0-9a-f]{24})"/g),
      references: all(/"id":"(ref_[0-9a-z]{26})"/g),
    },
  };
}

export function keyOf({ _id, account }: Pick<Stored, "_id" | "account">) {
  return { accountId: account, id: _id };
}

/** What `decode` is not given: only the indexes, the list and the search need it. A projection. */
export const NOT_DECODED = {
  change: 0,
  next_expiry: 0,
  row: 0,
  row_form: 0,
  row_version: 0,
  words: 0,
  words_form: 0,
} as const;
type Decodable = Omit<Stored, keyof typeof NOT_DECODED>;

export function decode(stored: Decodable): Found {
  if (stored.deleted !== true) return decodeRecord(stored);
  const { _id: id, account: accountId, version, updated_at, erasure = null } = stored;
  return { deleted: true, id, accountId, version, updated_at, erasure };
}

function decodeRecord({ _id, account, size: _size, deleted: _deleted, ...stored }: Decodable): CandidateRecord {
  const { outreach } = stored;
  const record: CandidateRecord = {
    ...stored,
    language: stored.language ?? null,
    hold: stored.hold ?? null,
    history: stored.history ?? NO_HISTORY,
    decisions: JSON.parse(stored.decisions ?? "{}") as CandidateRecord["decisions"],
    removed: stored.removed ?? [],
    erasure: stored.erasure ?? null,
    outreach: outreach ?? NO_OUTREACH,
    outreach_enabled: stored.outreach_enabled ?? true,
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
      language: reference.language ?? null,
      metadata: JSON.parse(reference.metadata) as Record<string, string>,
      response: JSON.parse(reference.response) as ReferenceRecord["response"],
    })),
  };
  return outreach === undefined ? { ...record, outreach: { ...NO_OUTREACH, ...noMail(record, 0) } } : record;
}
