import type { DocumentState } from "./document-schema.ts";
import type { ReferenceState } from "./reference-schema.ts";
import type { CandidateState } from "./schema.ts";

/** A candidate, with the records of its documents and references inside. Timestamps are RFC 3339. */
export interface CandidateRecord {
  readonly id: string;
  readonly accountId: string;
  /** Counts the writes; every write is a compare-and-set on it. */
  readonly version: number;
  /** Counts the writes that changed what the compliance pack shows. */
  readonly pack_version: number;
  /** Copy of the derived state. Only the index uses it. */
  readonly state: CandidateState;
  readonly external_id: string | null;
  readonly name: string | null;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly job_title: string | null;
  readonly start_date: string | null;
  readonly metadata: Record<string, string>;
  readonly docs_chase_attempts: number;
  readonly reference_chase_attempts: number;
  readonly references_required: number | null;
  readonly withdrawn: boolean;
  readonly withdrawal_reason: string | null;
  readonly documents: readonly DocumentRecord[];
  readonly references: readonly ReferenceRecord[];
  /** Documents and references deleted lately, so that a late retry of their POST does not add them again. */
  readonly removed: readonly Removed[];
  /** What is still to be removed of deleted documents and references. Null if nothing is. */
  readonly erasure: Erasure | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly started_at: string | null;
}

/** A deleted document or reference. `at` is RFC 3339. */
export interface Removed {
  readonly id: string;
  readonly at: string;
}

/** The rest of an erasure: what lies outside the candidate's record. Identifiers only. */
export interface Erasure {
  /** When the last deletion was made. RFC 3339. */
  readonly at: string;
  /** What was deleted, for the audit trail. */
  readonly deletions: readonly Deletion[];
  readonly files: readonly string[];
  readonly references: readonly string[];
}

/** A deletion that a client asked for. `key` is the id of its API key; `at` is RFC 3339. */
export interface Deletion {
  readonly kind: "candidates" | "documents" | "references";
  readonly id: string;
  readonly key: string;
  readonly at: string;
}

/** A candidate without the fields that the store sets itself when it writes. */
export type Draft = Omit<CandidateRecord, "version" | "state" | "created_at" | "updated_at">;

export interface ChaseRecord {
  readonly attempts: number;
  readonly last_at: string | null;
}

/** Describes a document's content. The bytes are in GridFS under `file_id`. */
export interface ContentRecord {
  readonly file_id: string;
  readonly filename: string | null;
  readonly content_type: string;
  readonly size: number;
  readonly sha256: string;
  readonly uploaded_at: string;
}

export interface DocumentRecord {
  readonly id: string;
  readonly name: string;
  readonly state: DocumentState;
  readonly required: boolean;
  readonly rejection_reason: string | null;
  readonly expires_on: string | null;
  readonly metadata: Record<string, string>;
  readonly content: ContentRecord | null;
  readonly chase: ChaseRecord;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface ReferenceRecord {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly company: string | null;
  readonly job_title: string | null;
  readonly relationship: string | null;
  readonly state: ReferenceState;
  readonly response: Record<string, unknown> | null;
  readonly metadata: Record<string, string>;
  readonly chase: ChaseRecord;
  readonly requested_at: string | null;
  readonly received_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export const NEVER_CHASED: ChaseRecord = { attempts: 0, last_at: null };

/** Returns true if the file is the content of one of the candidate's documents. */
export function namesFile({ documents }: Pick<CandidateRecord, "documents">, fileId: string): boolean {
  return documents.some(({ content }) => content?.file_id === fileId);
}
