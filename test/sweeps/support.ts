import { type CandidateRecord, type DocumentRecord, type Draft, NEVER_CHASED } from "../../src/candidates/record.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { candidateRecord } from "../support/records.ts";

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
  const given = { id: newTypeId("cand"), accountId, documents: [document], started_at: then, ...more };
  const { version: _v, state: _s, created_at: _c, updated_at: _u, ...draft } = candidateRecord(given);
  return draft;
}
