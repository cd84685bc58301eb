import type { IncomingFile, StoredFile } from "../content/file.ts";
import type { NewId } from "../infra/ids.ts";
import type { NewContent, NewDocument } from "./document-schema.ts";
import { type ContentRecord, type DocumentRecord, type Draft, NEVER_CHASED, type ReferenceRecord } from "./record.ts";
import type { NewReference } from "./reference-schema.ts";
import { DEFAULT_CHASE_ATTEMPTS, type NewCandidate } from "./schema.ts";

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
export function newDraft(given: NewCandidate, { id, accountId, documents, newId, now }: DraftFacts): Draft {
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
    references: (given.references ?? []).map((reference) => newReference(reference, newId("ref"), now)),
    started_at: null,
  };
}

export interface NewDocumentFacts {
  readonly id: string;
  readonly now: string;
  /** Content sent with the document, already stored. The document is then `received`. */
  readonly content: StoredFile | undefined;
  /** Whether the candidate is started. The document is then `requested` at once. */
  readonly started: boolean;
}

export function newDocument(given: NewDocument, { id, now, content, started }: NewDocumentFacts): DocumentRecord {
  return {
    id,
    name: given.name,
    state: content !== undefined ? "received" : started ? "requested" : "pending",
    required: given.required ?? true,
    rejection_reason: null,
    expires_on: given.expires_on ?? null,
    metadata: given.metadata ?? {},
    content: content === undefined ? null : newContent(content, now),
    chase: NEVER_CHASED,
    created_at: now,
    updated_at: now,
  };
}

export function newContent({ id, filename, contentType, size, sha256 }: StoredFile, now: string): ContentRecord {
  return { file_id: id, filename, content_type: contentType, size, sha256, uploaded_at: now };
}

/** Presents content sent as base64 in JSON as an uploaded file. */
export function inlineFile({ filename, content_type, data }: NewContent): IncomingFile {
  return { stream: [Buffer.from(data, "base64")], filename: filename ?? null, contentType: content_type ?? null };
}

/** Builds a reference that has not been requested yet. */
export function newReference(given: NewReference, id: string, now: string): ReferenceRecord {
  return {
    id,
    name: given.name ?? null,
    email: given.email ?? null,
    phone: given.phone ?? null,
    company: given.company ?? null,
    job_title: given.job_title ?? null,
    relationship: given.relationship ?? null,
    state: "not_requested",
    response: null,
    metadata: given.metadata ?? {},
    chase: NEVER_CHASED,
    requested_at: null,
    received_at: null,
    created_at: now,
    updated_at: now,
  };
}
