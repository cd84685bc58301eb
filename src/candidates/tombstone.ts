import { type Problem, problem } from "../problems.ts";
import type { CandidateRecord } from "./record.ts";
import type { DeletedCandidate } from "./schema.ts";

/** What remains of an erased candidate. It has no personal data, and stays for ever. */
export interface Tombstone {
  readonly id: string;
  readonly accountId: string;
  readonly version: number;
  readonly updated_at: string;
  /** What is still to be removed. Null once all of it is gone. */
  readonly erasure: Erasure | null;
}

/** The rest of an erasure: what lies outside the candidate's record. Identifiers only. */
export interface Erasure {
  /** RFC 3339. */
  readonly at: string;
  /** The key that asked for it. */
  readonly key: string;
  readonly files: readonly string[];
  readonly references: readonly string[];
}

/** Returns what remains of a candidate whose record is erased. */
export function tombstoneOf(record: CandidateRecord, { key, at }: { key: string; at: string }): Tombstone {
  return {
    id: record.id,
    accountId: record.accountId,
    version: record.version + 1,
    updated_at: at,
    erasure: {
      at,
      key,
      files: record.documents.flatMap(({ content }) => (content === null ? [] : [content.file_id])),
      references: record.references.map(({ id }) => id),
    },
  };
}

/** A deleted candidate as the feed shows it. */
export function renderTombstone({ id, version, updated_at }: Tombstone): DeletedCandidate {
  return { object: "candidate", id, deleted: true, version, updated_at };
}

export function candidateDeleted(id: string): Problem {
  return problem("candidate_deleted", `Candidate ${id} was deleted, and its data was erased.`);
}

export function isTombstone(found: CandidateRecord | Tombstone): found is Tombstone {
  return "erasure" in found;
}
