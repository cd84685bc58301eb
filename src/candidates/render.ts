import type { Document } from "./document-schema.ts";
import type { CandidateRecord, ContentRecord, DocumentRecord, ReferenceRecord } from "./record.ts";
import { chaseOf } from "./outreach.ts";
import type { Reference } from "./reference-schema.ts";
import type { Candidate } from "./schema.ts";
import { derive } from "./states.ts";

export function renderCandidate(record: CandidateRecord): Candidate {
  const { state, state_reason, waiting_on, reference_requirements } = derive(record);
  return {
    object: "candidate",
    id: record.id,
    external_id: record.external_id,
    name: record.name,
    first_name: record.first_name,
    last_name: record.last_name,
    email: record.email,
    language: record.language,
    phone: record.phone,
    job_title: record.job_title,
    start_date: record.start_date,
    metadata: record.metadata,
    docs_chase_attempts: record.docs_chase_attempts,
    reference_chase_attempts: record.reference_chase_attempts,
    references_required: record.references_required,
    reference_requirements,
    state,
    state_reason,
    waiting_on,
    withdrawn: record.withdrawn,
    withdrawal_reason: record.withdrawal_reason,
    documents: record.documents.map((document) => renderDocument(record, document)),
    references: record.references.map((reference) => renderReference(record, reference)),
    version: record.version,
    pack_version: record.pack_version,
    created_at: record.created_at,
    updated_at: record.updated_at,
    started_at: record.started_at,
    outreach: { next_at: record.outreach.next_at, reason: record.outreach.reason },
    outreach_enabled: record.outreach_enabled,
  };
}

/** A document as the API shows it. It describes the content, and never includes the bytes. */
export function renderDocument(candidate: CandidateRecord, document: DocumentRecord): Document {
  const { content, ...rest } = document;
  return {
    object: "document",
    candidate_id: candidate.id,
    ...rest,
    chase: chaseOf(document, candidate),
    content: content === null ? null : renderContent(content),
  };
}

function renderContent(content: ContentRecord) {
  const { filename, content_type, size, sha256, uploaded_at } = content;
  return { filename, content_type, size, sha256, etag: contentTag(content), uploaded_at };
}

/** The ETag of a document's content. It depends on the bytes alone: equal bytes have equal tags in any document. */
export function contentTag({ sha256 }: ContentRecord): string {
  return `"${sha256}"`;
}

export function renderReference(candidate: CandidateRecord, reference: ReferenceRecord): Reference {
  return { object: "reference", candidate_id: candidate.id, ...reference, chase: chaseOf(reference, candidate) };
}
