import { timestamp } from "../infra/clock.ts";
import { comparable } from "./address.ts";
import type { ChaseRules } from "./chase.ts";
import { NO_OUTREACH, planned } from "./planned.ts";
import type { CandidateRecord, Draft } from "./record.ts";
import { derive } from "./state.ts";

/**
 * Returns a new candidate's first version.
 * @param at its place in the feed, in milliseconds since the epoch.
 * @param optedOut those of its addresses whose owners want no more messages.
 */
export function firstVersion(draft: Draft, at: number, optedOut: readonly string[] = []): CandidateRecord {
  const updated_at = timestamp(at);
  const outreach = { ...NO_OUTREACH, opted_out: optedOut.map(comparable) };
  const first = { ...draft, outreach, version: 1, created_at: updated_at, updated_at };
  return derived(first, undefined, at); // it is not started, so the rules do not matter
}

/**
 * Returns the version that follows `before`, with a new plan of the chase.
 * @param at its place in the feed, in milliseconds since the epoch.
 * @param rules undefined while mail is not configured.
 * @param now the time, in milliseconds since the epoch. It is before `at` if the clock has stepped back.
 */
export function nextVersion(
  before: CandidateRecord,
  edited: CandidateRecord,
  at: number,
  rules: ChaseRules | undefined,
  now = at,
): CandidateRecord {
  const next = {
    ...edited,
    version: before.version + 1,
    pack_version: before.pack_version + (samePack(before, edited) ? 0 : 1),
    updated_at: timestamp(at),
  };
  return derived(next, rules, now);
}

/** Fills in what follows from the rest of the record: its state, and the plan of its chase. */
function derived(record: Omit<CandidateRecord, "state">, rules: ChaseRules | undefined, now: number): CandidateRecord {
  return planned({ ...record, state: derive(record).state }, rules, now);
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
  outreach: _outreach,
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
