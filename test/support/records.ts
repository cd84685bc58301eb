import { NO_HISTORY } from "../../src/candidates/history.ts";
import { NO_OUTREACH } from "../../src/candidates/outreach.ts";
import {
  type Author,
  type CandidateRecord,
  type ContentRecord,
  type DocumentRecord,
  NEVER_CHASED,
  NO_FIELDS,
  type ReferenceRecord,
} from "../../src/candidates/record.ts";

const THEN = "2026-11-21T01:40:12.345Z";

/** Whoever changes candidates of this account in tests that go past HTTP. */
export function author(accountId = "acct_1"): Author {
  return { accountId, by: { type: "key", id: "key_1" } };
}

/** Returns a candidate's record with these fields. It has no documents, no references, and no other fields. */
export function candidateRecord(given: Partial<CandidateRecord> = {}): CandidateRecord {
  return {
    ...NO_FIELDS,
    id: "cand_1",
    accountId: "acct_1",
    version: 1,
    state: "created",
    metadata: {},
    docs_chase_attempts: 3,
    reference_chase_attempts: 3,
    documents: [],
    references: [],
    removed: [],
    erasure: null,
    outreach: NO_OUTREACH,
    outreach_enabled: true,
    decisions: {},
    history: NO_HISTORY,
    created_at: THEN,
    updated_at: THEN,
    ...given,
  };
}

/** Returns a document with these fields. The others are those of a required document that is pending. */
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

/** Returns the content of a document, with these fields. */
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

/** Returns a reference with these fields. The others are those of one that is not requested yet; what is unknown is null. */
export function referenceRecord(given: Partial<ReferenceRecord> = {}): ReferenceRecord {
  return {
    id: "ref_1",
    name: null,
    email: null,
    phone: null,
    company: null,
    job_title: null,
    relationship: null,
    language: null,
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
