import { mergePatch } from "../schema/merge-patch.ts";
import { invalid, type Problem, problem } from "../problems.ts";
import { DOCUMENT_MOVES } from "./document-state.ts";
import type { CandidateRecord } from "./record.ts";
import { REFERENCE_MOVES } from "./reference-state.ts";
import { DEFAULT_CHASE_ATTEMPTS } from "./schema.ts";
import type { CandidatePatch, OutreachPatch } from "./input-schema.ts";

/** Pure edits of a candidate's own fields. CandidateStore.change runs them. */

/**
 * Returns the problem invalid_transition, which names the states that are open.
 * @param why the rest of the sentence "state cannot be …: ", without its full stop.
 * @param at where the document or reference is in the body: a JSON Pointer.
 */
export function refusedState(
  why: string,
  { at, ...members }: { from: string | null; to: string; allowed: readonly string[]; at: string },
): Problem {
  const open = members.allowed.join(", ");
  const detail = `state cannot be ${members.to}: ${why}. Send one of these states instead: ${open}.`;
  const errors = [{ pointer: `${at}/state`, detail: `must be one of ${open}` }];
  return problem("invalid_transition", detail, { members, errors });
}

/** Merges the patch into the candidate (RFC 7396). @throws problem validation_failed */
export function patched(record: CandidateRecord, patch: CandidatePatch): CandidateRecord {
  const { metadata, withdrawn = record.withdrawn, withdrawal_reason, ...fields } = patch;
  if (!withdrawn && withdrawal_reason) {
    throw invalid(
      "/withdrawal_reason",
      'must be sent with "withdrawn": true',
      'Only a withdrawn candidate can have a withdrawal_reason. Send it with "withdrawn": true, or leave it out.',
    );
  }
  const reason = withdrawn ? (withdrawal_reason === undefined ? record.withdrawal_reason : withdrawal_reason) : null;
  const edited: CandidateRecord = {
    ...record,
    ...fields,
    metadata: mergedMetadata(record.metadata, metadata),
    withdrawn,
    withdrawal_reason: reason,
  };
  return ownFields(edited) === ownFields(record) ? record : edited;
}

/** Returns what `patched` can change, as one string to compare. Documents and references are most of a candidate. */
function ownFields({ documents: _documents, references: _references, ...own }: CandidateRecord): string {
  return JSON.stringify(own);
}

/**
 * Starts the candidate: its pending documents and its references become requested. Returns the same record if the
 * candidate is already started.
 * @throws problem candidate_withdrawn
 */
export function started(record: CandidateRecord, now: string): CandidateRecord {
  if (record.withdrawn)
    throw problem(
      "candidate_withdrawn",
      `Candidate ${record.id} is withdrawn. PATCH it with "withdrawn": false first.`,
    );
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

export function withOutreach(record: CandidateRecord, patch: OutreachPatch): CandidateRecord {
  const set = (given: number | null | undefined, before: number) =>
    given === undefined ? before : (given ?? DEFAULT_CHASE_ATTEMPTS);
  const docs_chase_attempts = set(patch.docs_chase_attempts, record.docs_chase_attempts);
  const reference_chase_attempts = set(patch.reference_chase_attempts, record.reference_chase_attempts);
  const same =
    docs_chase_attempts === record.docs_chase_attempts && reference_chase_attempts === record.reference_chase_attempts;
  return same ? record : { ...record, docs_chase_attempts, reference_chase_attempts };
}

/**
 * Merges a patch into metadata (RFC 7396). A null member removes that member; a null patch removes them all.
 * @throws problem validation_failed
 */
export function mergedMetadata(
  before: Record<string, string>,
  patch: Record<string, string | null> | null | undefined,
): Record<string, string> {
  if (patch === undefined) return before;
  const merged = (patch === null ? {} : mergePatch(before, patch)) as Record<string, string>;
  const count = Object.keys(merged).length;
  if (count > 50) {
    throw invalid(
      "/metadata",
      `must have at most 50 members, including the existing ones; it would have ${count}`,
      "The metadata would have too many members. Send null for members that you no longer need.",
    );
  }
  return merged;
}
