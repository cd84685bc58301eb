import { allowedMoves, mergedMetadata, refuseWithdrawn } from "./edits.ts";
import type { CandidateRecord, ReferenceRecord } from "./record.ts";
import { MAX_REFERENCES } from "./schema.ts";
import { mergePatch } from "../schema/merge-patch.ts";
import { problem } from "../problems.ts";
import { newReference } from "./new.ts";
import type { NewReference, ReferencePatch, ReferenceState } from "./reference-schema.ts";
import { REFERENCE_MOVES } from "./reference-state.ts";

/** Maximum size of a reference's response, in bytes of JSON. */
const MAX_RESPONSE_BYTES = 16 * 1024;

/**
 * Adds a reference to the candidate. The reference is requested at once if the candidate is started.
 * @throws problems candidate_withdrawn, too_many_references
 */
export function withReference(record: CandidateRecord, given: NewReference, id: string, now: string): CandidateRecord {
  refuseWithdrawn(record);
  if (record.references.length >= MAX_REFERENCES) {
    throw problem(
      "too_many_references",
      `The candidate already has ${MAX_REFERENCES} references, the maximum. Change one of them instead.`,
    );
  }
  const added = newReference(given, id, now);
  const initial: ReferenceRecord =
    record.started_at === null ? added : { ...added, state: "requested", requested_at: now };
  return { ...record, references: [...record.references, initial] };
}

/**
 * Merges the patch into the reference and moves it to the state in the patch.
 * @throws problems invalid_transition, validation_failed
 */
export function patchedReference(before: ReferenceRecord, patch: ReferencePatch, now: string): ReferenceRecord {
  const { state = before.state, metadata, response, ...fields } = patch;
  const edited: ReferenceRecord = {
    ...before,
    ...fields,
    metadata: mergedMetadata(before.metadata, metadata),
    response: mergedResponse(before.response, response),
    ...moved(before, state, now),
  };
  return JSON.stringify(edited) === JSON.stringify(before) ? before : { ...edited, updated_at: now };
}

function mergedResponse(
  before: ReferenceRecord["response"],
  patch: ReferencePatch["response"],
): ReferenceRecord["response"] {
  if (patch === undefined) return before;
  const merged = mergePatch(before, patch) as ReferenceRecord["response"];
  const bytes = Buffer.byteLength(JSON.stringify(merged));
  if (bytes <= MAX_RESPONSE_BYTES) return merged;
  throw problem(
    "validation_failed",
    "The response would be too large. Send null for members that you no longer need.",
    {
      errors: [
        {
          pointer: "/response",
          detail: `must have at most ${MAX_RESPONSE_BYTES} bytes of JSON, with the existing members; it would have ${bytes}`,
        },
      ],
    },
  );
}

function moved(before: ReferenceRecord, to: ReferenceState, now: string): Partial<ReferenceRecord> {
  if (to === before.state) return {};
  const allowed = REFERENCE_MOVES[before.state];
  if (!allowed.includes(to)) {
    const refusal = `A reference that is ${before.state} cannot become ${to}.`;
    throw problem("invalid_transition", `${refusal} ${allowedMoves(allowed)}`, {
      members: { from: before.state, to, allowed },
    });
  }
  if (to === "requested") return { state: to, requested_at: now, received_at: null };
  return to === "received" ? { state: to, received_at: now } : { state: to };
}
