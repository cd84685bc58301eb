import type { IncomingFile, StoredFile } from "../content/file.ts";
import type { NewId } from "../infra/ids.ts";
import { refuseContent, refuseContradiction, refuseReason } from "./document-edits.ts";
import type { ContentInput, DocumentInput } from "./document-schema.ts";
import { type ContentRecord, type DocumentRecord, type Draft, NEVER_CHASED, type ReferenceRecord } from "./record.ts";
import { mergedResponse, refuseContradiction as refuseReferenceContradiction, stateAt } from "./reference-edits.ts";
import type { ReferenceInput } from "./reference-schema.ts";
import { DEFAULT_CHASE_ATTEMPTS } from "./schema.ts";
import type { CandidateInput } from "./input-schema.ts";

/** Builds records from what a client sent, with the defaults filled in. */

interface DraftFacts {
  readonly id: string;
  readonly accountId: string;
  readonly documents: readonly DocumentRecord[];
  readonly newId: NewId;
  readonly now: string;
}

/**
 * Builds a new candidate with its references. The caller has already built its documents, because their content is
 * stored first.
 */
export function newDraft(given: CandidateInput, { id, accountId, documents, newId, now }: DraftFacts): Draft {
  return {
    id,
    accountId,
    pack_version: 1,
    external_id: given.external_id ?? null,
    name: given.name ?? null,
    first_name: given.first_name ?? null,
    last_name: given.last_name ?? null,
    email: given.email ?? null,
    phone: given.phone ?? null,
    job_title: given.job_title ?? null,
    start_date: given.start_date ?? null,
    metadata: given.metadata ?? {},
    docs_chase_attempts: given.docs_chase_attempts ?? DEFAULT_CHASE_ATTEMPTS,
    reference_chase_attempts: given.reference_chase_attempts ?? DEFAULT_CHASE_ATTEMPTS,
    references_required: given.references_required ?? null,
    withdrawn: false,
    withdrawal_reason: null,
    documents,
    references: (given.references ?? []).map((reference, n) =>
      newReference(reference, { id: newId("ref"), now, started: false, at: `/references/${n}` }),
    ),
    removed: [],
    erasure: null,
    started_at: null,
  };
}

export interface NewDocumentFacts {
  readonly id: string;
  readonly now: string;
  /** Content sent with the document, already stored. */
  readonly content: StoredFile | undefined;
  /** Whether the candidate is started. */
  readonly started: boolean;
  /** Where the document is in the body: a JSON Pointer. */
  readonly at?: string;
}

/**
 * Builds a document in the state that the client gives it. Without one, it is received if it has content, else requested
 * if the candidate is started, else pending.
 * @throws problems invalid_transition, validation_failed
 */
export function newDocument(
  given: DocumentInput,
  { id, now, content, started, at = "" }: NewDocumentFacts,
): DocumentRecord {
  const state = given.state ?? (content !== undefined ? "received" : started ? "requested" : "pending");
  const expires_on = given.expires_on ?? null;
  checkNewDocument(given, { now, started, at });
  return {
    id,
    name: given.name,
    state,
    required: given.required ?? true,
    rejection_reason: given.rejection_reason ?? null,
    expires_on,
    metadata: given.metadata ?? {},
    content: content === undefined ? null : newContent(content, now),
    chase: NEVER_CHASED,
    created_at: now,
    updated_at: now,
  };
}

/**
 * Refuses a new document that contradicts itself. Call it before its content is stored.
 * @throws problems invalid_transition, validation_failed
 */
export function checkNewDocument(
  { state, expires_on = null, rejection_reason, content }: DocumentInput,
  { now, started, at = "", file = false }: { now: string; started: boolean; at?: string; file?: boolean },
): void {
  if (state === undefined || state === null) return refuseReason("pending", rejection_reason, at);
  refuseReason(state, rejection_reason, at);
  refuseContradiction({ state, expires_on }, { from: null, started, now, at });
  if (file || content) refuseContent(state, { started, advice: "Leave out content, or send one of these states" });
}

export function newContent({ id, filename, contentType, size, sha256 }: StoredFile, now: string): ContentRecord {
  return { file_id: id, filename, content_type: contentType, size, sha256, uploaded_at: now };
}

export function inlineFile({ filename, content_type, data }: ContentInput): IncomingFile {
  return { stream: [Buffer.from(data, "base64")], filename: filename ?? null, contentType: content_type ?? null };
}

/**
 * Builds a reference in the state that the client gives it. Without one, it is requested if the candidate is started,
 * else not_requested.
 * @param facts `at`: where the reference is in the body, a JSON Pointer.
 * @throws problems invalid_transition, validation_failed
 */
export function newReference(
  given: ReferenceInput,
  { id, now, started, at = "" }: { id: string; now: string; started: boolean; at?: string },
): ReferenceRecord {
  const state = given.state ?? (started ? "requested" : "not_requested");
  refuseReferenceContradiction(state, { from: null, started, at });
  return {
    id,
    name: given.name ?? null,
    email: given.email ?? null,
    phone: given.phone ?? null,
    company: given.company ?? null,
    job_title: given.job_title ?? null,
    relationship: given.relationship ?? null,
    response: mergedResponse(null, given.response, at),
    metadata: given.metadata ?? {},
    chase: NEVER_CHASED,
    ...stateAt(state, now, { requested_at: null }),
    created_at: now,
    updated_at: now,
  };
}
