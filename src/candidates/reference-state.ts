import { REFERENCE_STATES, type ReferenceState } from "./reference-schema.ts";

/**
 * Says why a reference cannot be in this state, as a sentence; undefined if it can. A client may move a reference from
 * any state to any other. It is refused only what contradicts itself (interface.md, States).
 * @param started whether its candidate is started.
 */
export function referenceContradiction(state: ReferenceState, started: boolean): string | undefined {
  if (state === "not_requested" && started)
    return "The candidate is started, so its references are requested, not not_requested.";
  if (state === "requested" && !started) return "The candidate is not started, so its references are not_requested.";
  return undefined;
}

/** Returns the states that a client can give to a reference. */
export function openReferenceStates(started: boolean): ReferenceState[] {
  return REFERENCE_STATES.filter((state) => referenceContradiction(state, started) === undefined);
}
