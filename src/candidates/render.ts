import type { Document } from "./document-schema.ts";
import type { CandidateRecord, ContentRecord, DocumentRecord, ReferenceRecord } from "./record.ts";
import { isDecided } from "./history.ts";
import type { Decided } from "./history-schema.ts";
import { chaseOf } from "./outreach.ts";
import { notedErasureOf } from "./erasure.ts";
import type { Reference } from "./reference-schema.ts";
import type { Candidate, WaitingOn } from "./schema.ts";
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
    hold: record.hold,
    erases_at: notedErasureOf(record),
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
    decided: decidedOf(document, candidate),
    content: content === null ? null : renderContent(content),
  };
}

/** A version that knows no decisions may have moved it since. */
function decidedOf({ id, state }: DocumentRecord | ReferenceRecord, { decisions }: CandidateRecord): Decided | null {
  const decision = isDecided(state) ? decisions[id] : undefined;
  return decision?.state === state ? decision : null;
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
  const [chase, decided] = [chaseOf(reference, candidate), decidedOf(reference, candidate)];
  return { object: "reference", candidate_id: candidate.id, ...reference, chase, decided };
}

/** What 0.1.0 says of a reference. */
const SAID: Partial<Record<string, string>> = {
  reference_requested: "has not answered",
  reference_declined: "has declined",
  reference_bounced: "could not be reached: the message bounced",
  reference_unresponsive: "does not respond",
  reference_without_email: "has no email address",
};

/**
 * Returns what the ETag of a candidate covers: what 0.1.0 shows of it, in its words. So replicas of both versions agree on ETags
 * while they run side by side. Whatever else the candidate shows changes `version`, or belongs to one response.
 */
export function taggedView(candidate: Candidate) {
  const {
    hold: _h,
    erases_at: _a,
    outreach: _o,
    outreach_enabled: _e,
    warnings: _w,
    language: _l,
    ...shown
  } = candidate;
  const told = new Map(shown.waiting_on.map((wait) => [wait.message, toldBefore(wait)]));
  return {
    ...shown,
    state_reason: told.get(shown.state_reason ?? "") ?? shown.state_reason,
    waiting_on: shown.waiting_on.map((wait) => ({ ...wait, message: toldBefore(wait) })),
    // JSON leaves undefined members out. To copy a part without one takes longer.
    documents: shown.documents.map((each) => ({ ...each, decided: undefined, chase: sentOf(each) })),
    references: shown.references.map((each) => ({
      ...each,
      decided: undefined,
      language: each.language ?? undefined,
      chase: sentOf(each),
    })),
  };
}

/** The view that If-Match compares. */
export function taggedCandidate(record: CandidateRecord): ReturnType<typeof taggedView> {
  return taggedView(renderCandidate(record));
}

function toldBefore({ code, subject, message }: WaitingOn): string {
  const said = SAID[code];
  if (said !== undefined) return `Reference ${subject} ${said}`;
  return code === "not_started" ? "The candidate has not been started" : message;
}

function sentOf({ chase: { attempts, last_at } }: Pick<Candidate["documents"][number], "chase">) {
  return { attempts, last_at };
}
