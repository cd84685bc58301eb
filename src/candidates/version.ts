import { timestamp } from "../infra/clock.ts";
import type { CandidateRecord, Draft } from "./record.ts";
import { derive } from "./state.ts";

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
    pack_version: before.pack_version + (samePack(before, edited) ? 0 : 1),
    ...stamp(edited, at),
  };
}

function stamp(draft: Draft, at: number): Pick<CandidateRecord, "state" | "updated_at"> {
  return { state: derive(draft).state, updated_at: timestamp(at) };
}

/** Returns whether the compliance pack shows the same of both (pack/render.ts), apart from what every write changes. */
function samePack(before: CandidateRecord, edited: CandidateRecord): boolean {
  return (
    packFacts(before) === packFacts(edited) &&
    sameItems(before.documents, edited.documents) &&
    sameItems(before.references, edited.references)
  );
}

/** Returns what the pack shows of a candidate itself, as one string to compare. */
function packFacts({
  docs_chase_attempts: _d,
  reference_chase_attempts: _r,
  metadata: _m,
  removed: _removed,
  erasure: _erasure,
  documents: _documents,
  references: _references,
  ...facts
}: CandidateRecord): string {
  return JSON.stringify({ ...facts, version: 0, pack_version: 0, state: 0, updated_at: 0 });
}

/** An edit leaves most items as they are, so most are the same objects. */
function sameItems(before: readonly object[], edited: readonly object[]): boolean {
  return (
    before.length === edited.length &&
    before.every((item, n) => item === edited[n] || JSON.stringify(item) === JSON.stringify(edited[n]))
  );
}
