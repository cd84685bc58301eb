import { timestamp } from "../infra/clock.ts";
import type { CandidateRecord, Draft } from "./record.ts";
import { derive } from "./state.ts";
import { packFacts } from "./stored.ts";

/** Returns a new candidate's first version. @param at its place in the feed, in milliseconds since the epoch. */
export function firstVersion(draft: Draft, at: number): CandidateRecord {
  return { ...draft, version: 1, ...stamp(draft, at), created_at: timestamp(at) };
}

/**
 * Returns the version that follows `before`.
 * @param at its place in the feed, in milliseconds since the epoch.
 */
export function nextVersion(before: CandidateRecord, edited: CandidateRecord, at: number): CandidateRecord {
  return {
    ...edited,
    version: before.version + 1,
    pack_version: before.pack_version + (packFacts(before) === packFacts(edited) ? 0 : 1),
    ...stamp(edited, at),
  };
}

function stamp(draft: Draft, at: number): Pick<CandidateRecord, "state" | "updated_at"> {
  return { state: derive(draft).state, updated_at: timestamp(at) };
}
