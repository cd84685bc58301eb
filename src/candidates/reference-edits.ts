import { mergedMetadata, refuseWithdrawn } from "./edits.ts";
import type { CandidateRecord, ReferenceRecord } from "./record.ts";
import { MAX_REFERENCES } from "./schema.ts";
import { mergePatch } from "../schema/merge-patch.ts";
import { problem } from "../problems.ts";
import { newReference } from "./new.ts";
import type { NewReference, ReferencePatch, ReferenceState } from "./reference-schema.ts";
import { REFERENCE_MOVES } from "./reference-state.ts";

/** Largest response, in bytes of JSON. */
const MAX_RESPONSE_BYTES = 16 * 1024;

/**
 * The candidate with one more reference, asked for at once where the candidate is started.
 * @throws problems candidate_withdrawn, too_many_references
 */
export function withReference(record: CandidateRecord, given: NewReference, id: string, now: string): CandidateRecord {
  refuseWithdrawn(record);
  if (record.references.length >= MAX_REFERENCES) {
    throw problem("too_many_references", `A candidate has at most ${MAX_REFERENCES} references.`);
  }
  const added = newReference(given, id, now);
  const asked: ReferenceRecord =
    record.started_at === null ? added : { ...added, state: "requested", requested_at: now };
  return { ...record, references: [...record.references, asked] };
}

/** The reference with the patch merged in and its move made. @throws problems invalid_transition, validation_failed */
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
  throw problem("validation_failed", "The response would be too large.", {
    errors: [
      {
        pointer: "/response",
        detail: `must have at most ${MAX_RESPONSE_BYTES} bytes of JSON, with what is there already; it would have ${bytes}`,
      },
    ],
  });
}

function moved(before: ReferenceRecord, to: ReferenceState, now: string): Partial<ReferenceRecord> {
  if (to === before.state) return {};
  const open = REFERENCE_MOVES[before.state];
  if (!open.includes(to)) {
    const allowed = open.length === 0 ? "no move is open from there" : `open from there: ${open.join(", ")}`;
    throw problem("invalid_transition", `A reference that is ${before.state} cannot become ${to}; ${allowed}.`, {
      members: { from: before.state, to, allowed: open },
    });
  }
  if (to === "requested") return { state: to, requested_at: now, received_at: null };
  return to === "received" ? { state: to, received_at: now } : { state: to };
}
