import { invalid, type Problem, problem } from "../problems.ts";
import { mergedMetadata, mergePatch } from "../schema/merge-patch.ts";
import { newChase } from "./documents.ts";
import { referenceContradiction, refuseContradiction, type Situation } from "./moves.ts";
import { comparable } from "./outreach.ts";
import type { CandidateRecord, ReferenceRecord } from "./record.ts";
import { REFERENCE_STATES, type ReferenceInput, type ReferencePatch, type ReferenceState } from "./reference-schema.ts";

/** Maximum size of a reference's response, in bytes of JSON. */
export const MAX_RESPONSE_BYTES = 16 * 1024;

/**
 * Maximum members and items of a response, at every depth. 16 KiB could hold 5,000 empty objects, and to read a candidate
 * with 50 such responses would hold the event loop for long.
 */
const MAX_RESPONSE_VALUES = 1_000;

/** @throws problem not_found */
export function referenceOf({ references }: CandidateRecord, id: string): ReferenceRecord {
  const reference = references.find((each) => each.id === id);
  if (reference === undefined) throw referenceNotFound(id);
  return reference;
}

export function referenceNotFound(id: string): Problem {
  return problem("not_found", `There is no reference ${JSON.stringify(id.slice(0, 100))}. Check the id.`);
}

/** A bounced reference is requested again once it has another address. @throws problems invalid_transition, validation_failed */
export function patchedReference(before: ReferenceRecord, patch: ReferencePatch, { started, now }: Situation) {
  const { email = before.email } = patch;
  const isCorrected =
    before.state === "bounced" && email !== null && comparable(email) !== comparable(before.email ?? "");
  const { state = isCorrected ? "requested" : before.state, metadata, response, ...fields } = patch;
  const edited: ReferenceRecord = {
    ...before,
    ...fields,
    metadata: mergedMetadata(before.metadata, metadata),
    response: mergedResponse(before.response, response, ""),
    ...(state === before.state ? {} : stateAt(state, now, before)),
  };
  if (state !== before.state) checkState(state, { from: before.state, started });
  return JSON.stringify(edited) === JSON.stringify(before) ? before : { ...edited, updated_at: now };
}

/** Merges a patch into a response (RFC 7396). @param at where the reference is in the body: a JSON Pointer. */
function mergedResponse(before: ReferenceRecord["response"], patch: ReferencePatch["response"], at: string) {
  if (patch === undefined) return before;
  const merged = mergePatch(before, patch) as ReferenceRecord["response"];
  const bytes = Buffer.byteLength(JSON.stringify(merged));
  const values = countValues(merged);
  if (bytes <= MAX_RESPONSE_BYTES && values <= MAX_RESPONSE_VALUES) return merged;
  const [limit, size] =
    bytes > MAX_RESPONSE_BYTES
      ? [`${MAX_RESPONSE_BYTES} bytes of JSON`, bytes]
      : [`${MAX_RESPONSE_VALUES} members and items in all`, values];
  throw invalid(
    `${at}/response`,
    `must have at most ${limit}, with the existing members; it would have ${size}`,
    "The response would be too large. Send null for members that you no longer need.",
  );
}

function countValues(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, member) => sum + 1 + countValues(member), 0);
}

/** Returns the state with the times that belong to it. @param before the times until now. */
export function stateAt(state: ReferenceState, now: string, before: Pick<ReferenceRecord, "requested_at">) {
  const received_at = state === "received" ? now : null;
  if (state === "requested") return { state, requested_at: now, received_at };
  return { state, requested_at: state === "not_requested" ? null : before.requested_at, received_at };
}

function checkState(
  state: ReferenceState,
  { started, ...where }: { started: boolean; from: ReferenceState | null; at?: string },
): void {
  refuseContradiction(state, REFERENCE_STATES, (each) => referenceContradiction(each, started), where);
}

/**
 * Builds a reference in the state that the client gives it. Without one, it is requested if the candidate is started,
 * else not_requested.
 * @param facts `at`: where it is in the body, a JSON Pointer.
 * @throws problems invalid_transition, validation_failed
 */
export function newReference(
  given: ReferenceInput,
  { id, now, started, at = "" }: Situation & { id: string; at?: string },
): ReferenceRecord {
  const state = given.state ?? (started ? "requested" : "not_requested");
  checkState(state, { from: null, started, at });
  return {
    id,
    name: given.name ?? null,
    email: given.email ?? null,
    phone: given.phone ?? null,
    company: given.company ?? null,
    job_title: given.job_title ?? null,
    relationship: given.relationship ?? null,
    response: mergedResponse(null, given.response, at),
    metadata: given.metadata ?? {},
    chase: newChase(given.chase, { now, at }),
    ...stateAt(state, now, { requested_at: null }),
    created_at: now,
    updated_at: now,
    language: given.language ?? null, // last, as it is stored: the ETag depends on it
  };
}
