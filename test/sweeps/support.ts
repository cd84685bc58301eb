import { type CandidateRecord, type DocumentRecord, type Draft, NEVER_CHASED } from "../../src/candidates/record.ts";
import { newTypeId } from "../../src/infra/ids.ts";

/** Returns a started candidate with one accepted document that is valid until the end of `expires_on`. */
export function candidateWithExpiry(accountId: string, expires_on: string, more: Partial<CandidateRecord> = {}): Draft {
  const then = "2020-01-01T00:00:00.000Z";
  const document: DocumentRecord = {
    id: newTypeId("doc"),
    name: "Passport",
    state: "accepted",
    required: true,
    rejection_reason: null,
    expires_on,
    metadata: {},
    content: null,
    chase: NEVER_CHASED,
    created_at: then,
    updated_at: then,
  };
  return {
    id: newTypeId("cand"),
    accountId,
    pack_version: 1,
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
    documents: [document],
    references: [],
    started_at: then,
    ...more,
  };
}
