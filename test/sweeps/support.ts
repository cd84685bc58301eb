import type { CandidateRecord, Draft } from "../../src/candidates/record.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { candidateRecord, documentRecord } from "../support/records.ts";

/** Returns a started candidate with one accepted document that is valid until the end of `expires_on`. */
export function candidateWithExpiry(accountId: string, expires_on: string, more: Partial<CandidateRecord> = {}): Draft {
  const then = "2020-01-01T00:00:00.000Z";
  const document = documentRecord({ id: newTypeId("doc"), state: "accepted", expires_on });
  const given = { id: newTypeId("cand"), accountId, documents: [document], started_at: then, ...more };
  const { version: _v, state: _s, created_at: _c, updated_at: _u, ...draft } = candidateRecord(given);
  return draft;
}
