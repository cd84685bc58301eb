import { isDeepStrictEqual } from "node:util";
import { timestamp } from "../infra/clock.ts";
import { withChanges } from "./changes.ts";
import { type Found, isTombstone } from "./erasure.ts";
import type { Reservation } from "./feed-clock.ts";
import { comparable, NO_OUTREACH, type Planner, planned } from "./outreach.ts";
import type { CandidateRecord, Draft } from "./record.ts";
import { derive } from "./states.ts";

type Position = Pick<Reservation, "at" | "now">;

/** @param at the feed position. @param optedOut those of its addresses whose owners want no more messages. */
export function firstVersion(draft: Draft, at: number, optedOut: readonly string[] = []): CandidateRecord {
  const updated_at = timestamp(at);
  const reason = draft.withdrawn ? "withdrawn" : "not_started";
  const outreach = { ...NO_OUTREACH, reason, opted_out: optedOut.map(comparable) } as const;
  return withState({ ...draft, outreach, version: 1, created_at: updated_at, updated_at });
}

/** Returns the version that follows `before`, at a feed position. A record has its derived state and a new plan of its reminders. */
export function nextVersion(before: Found, edited: Found, position: Position, plan: Planner): Found {
  if (!isTombstone(before) && !isTombstone(edited)) return nextRecord(before, edited, position, plan);
  const version = Number.isInteger(before.version) ? before.version + 1 : 1; // the record may have been unreadable
  return { ...edited, version, updated_at: timestamp(position.at) };
}

export function nextRecord(
  before: CandidateRecord,
  edited: CandidateRecord,
  { at, now }: Position,
  plan: Planner,
): CandidateRecord {
  const next = {
    ...edited,
    version: before.version + 1,
    pack_version: before.pack_version + (isSamePack(before, edited) ? 0 : 1),
    updated_at: timestamp(at),
  };
  return planned(withChanges(before, withState(next), now), plan, now);
}

function withState(record: Omit<CandidateRecord, "state">): CandidateRecord {
  return { ...record, state: derive(record).state };
}

/** Returns true if the compliance pack shows the same of both (pack/render.ts), apart from what every write changes. */
function isSamePack(before: CandidateRecord, edited: CandidateRecord): boolean {
  return isDeepStrictEqual(packFacts(before), packFacts(edited));
}

function packFacts(record: CandidateRecord): object {
  const {
    docs_chase_attempts: _d,
    reference_chase_attempts: _r,
    language: _l,
    removed: _removed,
    erasure: _erasure,
    outreach: _outreach,
    outreach_enabled: _enabled,
    ...facts
  } = record;
  // The pack shows what is missing of a withdrawn candidate, too, and who opted out or bounced.
  const missing = derive({ ...record, withdrawn: false }).waiting_on;
  return { ...facts, missing, version: 0, pack_version: 0, state: 0, updated_at: 0 };
}
