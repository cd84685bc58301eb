import { type Problem, problem } from "../problems.ts";
import { DOCUMENT_STATES, type DocumentState } from "./document-schema.ts";
import { REFERENCE_STATES, type ReferenceState } from "./reference-schema.ts";

/** A move from any of several states to one. `when` is half a sentence. */
export interface Move<State> {
  readonly from: readonly State[];
  readonly to: State;
  readonly when: string;
}

/** What decides which states a document can be in. `now` is RFC 3339. */
export interface DocumentSituation {
  /** Whether its candidate is started. */
  readonly started: boolean;
  readonly expires_on: string | null;
  readonly now: string;
}

/**
 * Says why a document cannot be in this state and what would change that; undefined if it can be. A client may move a
 * document from any state to any other. Only a contradictory state is refused (interface.md, States).
 */
export function documentContradiction(state: DocumentState, situation: DocumentSituation): string | undefined {
  const { started, expires_on, now } = situation;
  if (state === "pending" && started) return "the candidate is already started";
  if (state === "requested" && !started) return "the candidate is not started yet. Starting it requests its documents";
  // The expiry sweep would move it to expired within a minute.
  if (state === "accepted" && isPast(expires_on, now))
    return `expires_on, ${expires_on}, has passed. Send a later expires_on, or null`;
  return undefined;
}

export function openDocumentStates(situation: DocumentSituation): DocumentState[] {
  return DOCUMENT_STATES.filter((state) => documentContradiction(state, situation) === undefined);
}

/** The moves that the service makes by itself. The documentation draws its diagram from this table. */
export const DOCUMENT_MOVES: Record<"start" | "content" | "expiry", Move<DocumentState>> = {
  start: { from: ["pending"], to: "requested", when: "the candidate is started" },
  content: {
    from: DOCUMENT_STATES.filter((state) => state !== "waived" && state !== "cancelled"),
    to: "received",
    when: "content is uploaded",
  },
  expiry: { from: ["accepted"], to: "expired", when: "the day after expires_on begins" },
};

/** Returns whether content can be uploaded. It moves the document to received. */
export function takesContent(state: DocumentState): boolean {
  return DOCUMENT_MOVES.content.from.includes(state);
}

/** Returns true if the day `expires_on` (`YYYY-MM-DD`) is over in UTC at `now` (RFC 3339). Null is never past. */
export function isPast(expires_on: string | null, now: string): boolean {
  return expires_on !== null && expires_on < now.slice(0, "YYYY-MM-DD".length);
}

/** The move that the service makes by itself. The documentation draws its diagram from it. */
export const REFERENCE_MOVES: Record<"start", Move<ReferenceState>> = {
  start: { from: ["not_requested"], to: "requested", when: "the candidate is started" },
};

/**
 * Says why a reference cannot be in this state and what would change that; undefined if it can be. A client may move a
 * reference from any state to any other. Only a contradictory state is refused (interface.md, States).
 * @param started whether its candidate is started.
 */
export function referenceContradiction(state: ReferenceState, started: boolean): string | undefined {
  if (state === "not_requested" && started) return "the candidate is already started";
  if (state === "requested" && !started) return "the candidate is not started yet. Starting it requests its references";
  return undefined;
}

export function openReferenceStates(started: boolean): ReferenceState[] {
  return REFERENCE_STATES.filter((state) => referenceContradiction(state, started) === undefined);
}

/**
 * Returns the problem invalid_transition, which names the states that are open.
 * @param why the rest of the sentence "state cannot be …: ", without its full stop.
 * @param at where the document or reference is in the body: a JSON Pointer.
 */
export function invalidTransition(
  why: string,
  { at, ...members }: { from: string | null; to: string; allowed: readonly string[]; at: string },
): Problem {
  const open = members.allowed.join(", ");
  const detail = `state cannot be ${members.to}: ${why}. Send one of these states instead: ${open}.`;
  const errors = [{ pointer: `${at}/state`, detail: `must be one of ${open}` }];
  return problem("invalid_transition", detail, { members, errors });
}
