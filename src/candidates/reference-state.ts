import type { Move } from "./document-state.ts";
import { REFERENCE_STATES, type ReferenceState } from "./reference-schema.ts";

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
