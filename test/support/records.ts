import { NO_OUTREACH } from "../../src/candidates/outreach.ts";
import {
  type CandidateRecord,
  type ContentRecord,
  type DocumentRecord,
  NEVER_CHASED,
  type ReferenceRecord,
} from "../../src/candidates/record.ts";

const THEN = "2026-11-21T01:40:12.345Z";

/** A candidate's record with nothing in it, but for what is given. */
export function candidateRecord(given: Partial<CandidateRecord> = {}): CandidateRecord {
  return {
    id: "cand_1",
    accountId: "acct_1",
    version: 1,
    pack_version: 1,
    state: "created",
    external_id: null,
    name: null,
    first_name: null,
    last_name: null,
    email: null,
    phone: null,
    job_title: null,
    start_date: null,
    metadata: {},
    docs_chase_attempts: 3,
    reference_chase_attempts: 3,
    references_required: null,
    withdrawn: false,
    withdrawal_reason: null,
    documents: [],
    references: [],
    removed: [],
    erasure: null,
    outreach: NO_OUTREACH,
    created_at: THEN,
    updated_at: THEN,
    started_at: null,
    ...given,
  };
}

/** A required document that is pending, but for what is given. */
export function documentRecord(given: Partial<DocumentRecord> = {}): DocumentRecord {
  return {
    id: "doc_1",
    name: "CV",
    state: "pending",
    required: true,
    rejection_reason: null,
    expires_on: null,
    metadata: {},
    content: null,
    chase: NEVER_CHASED,
    created_at: THEN,
    updated_at: THEN,
    ...given,
  };
}

/** The content of a document, but for what is given. */
export function contentRecord(given: Partial<ContentRecord> = {}): ContentRecord {
  return {
    file_id: "file_1",
    filename: "cv.pdf",
    content_type: "application/pdf",
    size: 1,
    sha256: "a".repeat(64),
    uploaded_at: THEN,
    ...given,
  };
}

/** A reference that is not requested and about whom nothing is known, but for what is given. */
export function referenceRecord(given: Partial<ReferenceRecord> = {}): ReferenceRecord {
  return {
    id: "ref_1",
    name: null,
    email: null,
    phone: null,
    company: null,
    job_title: null,
    relationship: null,
    state: "not_requested",
    metadata: {},
    response: null,
    requested_at: null,
    received_at: null,
    chase: NEVER_CHASED,
    created_at: THEN,
    updated_at: THEN,
    ...given,
  };
}
