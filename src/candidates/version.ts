import { isDeepStrictEqual } from "node:util";
import { timestamp } from "../infra/clock.ts";
import { withChanges } from "./changes.ts";
import { NO_HISTORY, withHistory } from "./history.ts";
import { type Found, isTombstone, withActivity } from "./erasure.ts";
import type { Reservation } from "./feed-clock.ts";
import { comparable, NO_OUTREACH, type Planner, planned } from "./outreach.ts";
import type { By } from "./history-schema.ts";
import type { CandidateRecord, Draft } from "./record.ts";
import { derive } from "./states.ts";
import { words } from "../schema/words.ts";

type Position = Pick<Reservation, "at" | "now">;

/** @param by who creates it. @param at the feed position. @param optedOut those of its addresses whose owners want no more messages. */
export function firstVersion(draft: Draft, by: By, at: number, optedOut: readonly string[] = []): CandidateRecord {
  const updated_at = timestamp(at);
  const reason = draft.withdrawn ? "withdrawn" : "not_started";
  const outreach = { ...NO_OUTREACH, reason, opted_out: optedOut.map(comparable) } as const;
  const facts = { outreach, decisions: {}, history: NO_HISTORY, version: 1, created_at: updated_at, updated_at };
  return withActivity(undefined, withHistory(undefined, withState({ ...draft, ...facts }), by), by);
}

/** Returns the version that follows `before`, at a feed position. A record has its derived state and a new plan of its reminders. */
export function nextVersion(before: Found, edited: Found, by: By, position: Position, plan: Planner): Found {
  if (!isTombstone(before) && !isTombstone(edited)) return nextRecord(before, edited, by, position, plan);
  const version = Number.isInteger(before.version) ? before.version + 1 : 1; // the record may have been unreadable
  return { ...edited, version, updated_at: timestamp(position.at) };
}

export function nextRecord(
  before: CandidateRecord,
  edited: CandidateRecord,
  by: By,
  { at, now }: Position,
  plan: Planner,
): CandidateRecord {
  const written = withState({ ...edited, version: before.version + 1, updated_at: timestamp(at) });
  const next = withActivity(before, withHistory(before, written, by), by);
  const isSamePack = () => isDeepStrictEqual(packFacts(before), packFacts(edited));
  const isSame = next.history.count === before.history.count && isSamePack();
  const pack_version = before.pack_version + (isSame ? 0 : 1);
  return planned(withChanges(before, { ...next, pack_version }, now), plan, now);
}

function withState(record: Omit<CandidateRecord, "state">): CandidateRecord {
  return { ...record, state: derive(record).state };
}

/** What the pack does not show, or every write changes. The history is compared by its count. */
const NOT_IN_PACK: readonly (keyof CandidateRecord)[] = [
  ...words("docs_chase_attempts reference_chase_attempts language removed erasure outreach outreach_enabled decisions"),
  ...words("history version pack_version state updated_at"),
];
const HIDDEN = Object.fromEntries(NOT_IN_PACK.map((name) => [name, 0]));

/** Returns what the pack (pack/render.ts) shows of a record. */
function packFacts(record: CandidateRecord): object {
  // The pack shows what is missing of a withdrawn candidate, too, and who opted out or bounced.
  const missing = derive({ ...record, withdrawn: false }).waiting_on;
  return { ...record, missing, ...HIDDEN };
}
