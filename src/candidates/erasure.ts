import { DAY_MS, timestamp } from "../infra/clock.ts";
import { isGone, type Problem, problem } from "../problems.ts";
import type { RetentionRules } from "../settings/retention-store.ts";
import type { By } from "./history-schema.ts";
import type { DeletedCandidate, UnreadableCandidate } from "./row-schema.ts";
import type { CandidateRecord, Deleter, Deletion, DocumentRecord, Erasure } from "./record.ts";

/** What remains of an erased candidate. It has no personal data, and is never removed. */
export interface Tombstone {
  readonly deleted: true;
  readonly id: string;
  readonly accountId: string;
  readonly version: number;
  readonly updated_at: string;
  /** What is still to be removed. Null once all of it is gone. */
  readonly erasure: Erasure | null;
  /** What is to be removed of a record that cannot be read. Only before it is erased: it is no tombstone yet. */
  readonly left?: Pick<Erasure, "files" | "references"> & { readonly isHeld: boolean };
}

/** A candidate as it is stored: its record, or what remains of it. */
export type Found = CandidateRecord | Tombstone;

/** The record of a candidate does not have a form that this version knows. */
export class UnreadableRecord extends Error {
  /** What an erasure needs of it. */
  readonly salvaged: Tombstone;

  /** @param reason what is wrong, without values of the record. */
  constructor(salvaged: Tombstone, reason: string) {
    super(`The record of ${salvaged.id} cannot be read: ${reason}`);
    this.name = "UnreadableRecord";
    this.salvaged = salvaged;
  }
}

/** Returns what remains of a candidate whose record is erased. */
export function tombstoneOf(found: Found, by: Deleter): Tombstone {
  const { id, accountId, version } = found;
  const left = isTombstone(found)
    ? (found.left ?? { files: [], references: [] })
    : { files: filesOf(found.documents), references: found.references.map((reference) => reference.id) };
  const erasure = withDeletion(found.erasure, { kind: "candidates", id, ...by }, left);
  return { deleted: true, id, accountId, version: version + 1, updated_at: by.at, erasure };
}

export function withDeletion(
  before: Erasure | null,
  deletion: Deletion,
  { files, references }: Pick<Erasure, "files" | "references">,
): Erasure {
  return {
    at: deletion.at,
    deletions: [...(before?.deletions ?? []), deletion],
    files: [...(before?.files ?? []), ...files],
    references: [...(before?.references ?? []), ...references],
  };
}

/** Returns true if the file is the content of one of the candidate's documents. */
export function namesFile({ documents }: Pick<CandidateRecord, "documents">, fileId: string): boolean {
  return documents.some(({ content }) => content?.file_id === fileId);
}

/** Returns the ids of the documents' files. */
export function filesOf(documents: readonly DocumentRecord[]): string[] {
  return documents.flatMap(({ content }) => (content === null ? [] : [content.file_id]));
}

type Shown = Pick<Tombstone, "id" | "version" | "updated_at">;

export function renderTombstone({ id, version, updated_at }: Shown): DeletedCandidate {
  return { object: "candidate", id, deleted: true, version, updated_at };
}

export function renderUnreadable(id: string): UnreadableCandidate {
  return { object: "candidate", id, unreadable: true };
}

export function candidateNotFound(id: string): Problem {
  return problem("not_found", `There is no candidate ${JSON.stringify(id.slice(0, 100))}. Check the id.`);
}

export function candidateDeleted(id: string): Problem {
  return problem("candidate_deleted", `Candidate ${id} was deleted and its data erased. Remove it from your mirror.`);
}

export function onHold(id: string): Problem {
  const remedy = 'Keep it, or lift the hold first: PATCH the candidate with "hold": null.';
  return problem(
    "on_hold",
    `Candidate ${id} is under a hold, with its documents, their files and its references. ${remedy}`,
  );
}

export function isTombstone(found: Found): found is Tombstone {
  return "deleted" in found;
}

/** Returns the candidate. @throws problem candidate_deleted if it was erased. */
export function alive(found: Found): CandidateRecord {
  if (isTombstone(found)) throw candidateDeleted(found.id);
  return found;
}

/**
 * Returns what a task about a candidate returns. Returns undefined if the candidate was erased, or if its record cannot be read:
 * one candidate must not hold up the others.
 */
export async function unlessErased<T>(task: Promise<T>): Promise<T | undefined> {
  try {
    return await task;
  } catch (error) {
    if (isGone(error) || error instanceof UnreadableRecord) return undefined;
    throw error;
  }
}

/** What retention needs of a candidate. */
export interface Retained extends Pick<CandidateRecord, "version" | "updated_at" | "retention"> {
  readonly state: string;
  /** Absent in records of earlier versions. */
  readonly hold?: CandidateRecord["hold"];
}

/** Notes in a version that is about to be written since when what retention counts from. @param before undefined if it is new. */
export function withActivity(before: CandidateRecord | undefined, after: CandidateRecord, by: By): CandidateRecord {
  const { version, updated_at } = after;
  const known = timesOf(before ?? after);
  const since = before?.state === after.state ? known.since : updated_at;
  const active_at = by.type === "service" ? known.active_at : updated_at;
  return { ...after, retention: { version, since, active_at, erases_at: null } };
}

/** Returns a version that is about to be written, with the time from which it is to be erased. */
export type Dated = <F extends Found>(found: F) => F;

export function datedBy(rulesOf: (accountId: string) => RetentionRules): Dated {
  return (found) => {
    if (isTombstone(found) || found.retention === undefined) return found;
    const erases_at = erasureOf(found, rulesOf(found.accountId));
    return { ...found, retention: { ...found.retention, erases_at } };
  };
}

/**
 * Returns the time from which a candidate is to be erased, RFC 3339. Null if it is not: under a hold, or if the account keeps those
 * in its state. Notice is given of a change by somebody too, so that nobody is erased in the second in which a hold is lifted.
 */
export function erasureOf(candidate: Retained, { days, changedAt, noticeMs }: RetentionRules): string | null {
  const { state, hold = null } = candidate;
  const isOver = state === "completed" || state === "withdrawn";
  const wait = days[isOver ? state : "inactive"];
  if (hold !== null || wait === null) return null;
  const { since, active_at } = timesOf(candidate);
  const active = Date.parse(active_at);
  const from = isOver ? Date.parse(since) : Math.max(Date.parse(since), active);
  const at = Math.max(from + wait * DAY_MS, Math.max(changedAt, active) + noticeMs);
  return Number.isNaN(at) ? null : timestamp(at); // the record may be damaged
}

/** Returns what was noted of the candidate's erasure. A version that knows no retention may have written it since. */
export function notedErasureOf({ retention, version }: Retained): string | null {
  return retention?.version === version ? retention.erases_at : null;
}

function timesOf({ retention, version, updated_at }: Pick<Retained, "retention" | "version" | "updated_at">) {
  return retention?.version === version ? retention : { since: updated_at, active_at: updated_at };
}
