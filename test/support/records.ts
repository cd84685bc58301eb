import { NO_OUTREACH } from "../../src/candidates/outreach.ts";
import type { CandidateRecord } from "../../src/candidates/record.ts";

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
