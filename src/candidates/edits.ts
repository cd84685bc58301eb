import { isDeepStrictEqual } from "node:util";
import type { NewId } from "../infra/ids.ts";
import { invalid, problem } from "../problems.ts";
import { mergedMetadata } from "../schema/merge-patch.ts";
import type { DocumentInput } from "./document-schema.ts";
import type { CandidateInput, CandidatePatch, OutreachPatch } from "./input-schema.ts";
import { DOCUMENT_MOVES, REFERENCE_MOVES } from "./moves.ts";
import { type CandidateRecord, DEFAULT_CHASE_ATTEMPTS, type Draft, NO_FIELDS } from "./record.ts";
import { newReference } from "./references.ts";

/** Pure edits of a candidate's own fields. CandidateStore.change runs them. */

/** Builds a new candidate with its references. Its documents are built before, because their content is stored first. */
export function newDraft(
  { documents: _documents, references, ...given }: CandidateInput,
  { newId, now, ...facts }: Pick<Draft, "id" | "accountId" | "documents"> & { newId: NewId; now: string },
): Draft {
  const withdrawn = given.withdrawn ?? false;
  checkWithdrawal(withdrawn, given.withdrawal_reason);
  return {
    ...NO_FIELDS,
    ...given,
    withdrawn,
    metadata: mergedMetadata({}, given.metadata),
    docs_chase_attempts: given.docs_chase_attempts ?? DEFAULT_CHASE_ATTEMPTS,
    reference_chase_attempts: given.reference_chase_attempts ?? DEFAULT_CHASE_ATTEMPTS,
    references: (references ?? []).map((reference, n) =>
      newReference(reference, { id: newId("ref"), now, started: false, at: `/references/${n}` }),
    ),
    removed: [],
    erasure: null,
    ...facts,
  };
}

/** Returns the documents of a body as objects: a plain string is a name. */
export function documentsOf({ documents }: CandidateInput): DocumentInput[] {
  return (documents ?? []).map((each) => (typeof each === "string" ? { name: each } : each));
}

/** Merges the patch into the candidate (RFC 7396). @throws problem validation_failed */
export function patched(record: CandidateRecord, patch: CandidatePatch): CandidateRecord {
  const { metadata, withdrawn = record.withdrawn, withdrawal_reason, ...fields } = patch;
  checkWithdrawal(withdrawn, withdrawal_reason);
  const reason = withdrawn ? (withdrawal_reason === undefined ? record.withdrawal_reason : withdrawal_reason) : null;
  const edited: CandidateRecord = {
    ...record,
    ...fields,
    metadata: mergedMetadata(record.metadata, metadata),
    withdrawn,
    withdrawal_reason: reason,
  };
  return isDeepStrictEqual(edited, record) ? record : edited;
}

function checkWithdrawal(withdrawn: boolean, reason: string | null | undefined): void {
  if (withdrawn || !reason) return;
  const must = 'must be sent with "withdrawn": true';
  const advice = 'Send it with "withdrawn": true, or leave it out.';
  throw invalid("/withdrawal_reason", must, `Only a withdrawn candidate can have a withdrawal_reason. ${advice}`);
}

/**
 * Starts the candidate: its pending documents and its references become requested. Returns the same record if the
 * candidate is already started.
 * @throws problem candidate_withdrawn
 */
export function started(record: CandidateRecord, now: string): CandidateRecord {
  const detail = `Candidate ${record.id} is withdrawn. PATCH it with "withdrawn": false first.`;
  if (record.withdrawn) throw problem("candidate_withdrawn", detail);
  if (record.started_at !== null) return record;
  return {
    ...record,
    started_at: now,
    documents: record.documents.map((document) =>
      DOCUMENT_MOVES.start.from.includes(document.state)
        ? { ...document, state: DOCUMENT_MOVES.start.to, updated_at: now }
        : document,
    ),
    references: record.references.map((reference) =>
      REFERENCE_MOVES.start.from.includes(reference.state)
        ? { ...reference, state: REFERENCE_MOVES.start.to, requested_at: now, updated_at: now }
        : reference,
    ),
  };
}

/** Changes the caps, and whether reminders go out. @param now RFC 3339. */
export function withOutreach(record: CandidateRecord, patch: OutreachPatch, now: string): CandidateRecord {
  const { outreach_enabled = record.outreach_enabled } = patch;
  const isResumed = outreach_enabled && !record.outreach_enabled;
  const set = (given: number | null | undefined, before: number) =>
    given === undefined ? before : (given ?? DEFAULT_CHASE_ATTEMPTS);
  const edited = {
    ...record,
    outreach_enabled,
    outreach: isResumed ? { ...record.outreach, resumed_at: now } : record.outreach,
    docs_chase_attempts: set(patch.docs_chase_attempts, record.docs_chase_attempts),
    reference_chase_attempts: set(patch.reference_chase_attempts, record.reference_chase_attempts),
  };
  return isDeepStrictEqual(edited, record) ? record : edited;
}
