import { refuseWithdrawn } from "./edits.ts";
import type { CandidateRecord } from "./record.ts";
import { DEFAULT_CHASE_ATTEMPTS } from "./schema.ts";
import type { OutreachPatch } from "./outreach-schema.ts";

/** The candidate with its chase attempts set. @throws problem candidate_withdrawn */
export function withOutreach(record: CandidateRecord, patch: OutreachPatch): CandidateRecord {
  refuseWithdrawn(record);
  const set = (given: number | null | undefined, before: number) => (given === undefined ? before : (given ?? DEFAULT_CHASE_ATTEMPTS));
  const docs_chase_attempts = set(patch.docs_chase_attempts, record.docs_chase_attempts);
  const reference_chase_attempts = set(patch.reference_chase_attempts, record.reference_chase_attempts);
  const same = docs_chase_attempts === record.docs_chase_attempts && reference_chase_attempts === record.reference_chase_attempts;
  return same ? record : { ...record, docs_chase_attempts, reference_chase_attempts };
}
