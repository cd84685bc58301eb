import { timestamp } from "../infra/clock.ts";
import type { RetentionRules } from "../settings/retention-store.ts";
import { type Found, isTombstone } from "./erasure.ts";
import type { By } from "./history-schema.ts";
import type { CandidateRecord } from "./record.ts";

const DAY_MS = 86_400_000;

/** What retention needs of a candidate. */
export type Retained = Pick<CandidateRecord, "state" | "hold" | "version" | "updated_at" | "retention">;

/** Notes in a version that is about to be written since when what retention counts from. @param before undefined if it is new. */
export function withActivity(before: CandidateRecord | undefined, after: CandidateRecord, by: By): CandidateRecord {
  const { version, updated_at } = after;
  const known = timesOf(before ?? after);
  const since = before?.state === after.state ? known.since : updated_at;
  const active_at = by.type === "service" ? known.active_at : updated_at;
  return { ...after, retention: { version, since, active_at, erases_at: null } };
}

/** Returns a version that is about to be written, with the time from which it is to be erased. */
export type Dated = <F extends Found>(found: F) => F;

export function datedBy(rulesOf: (accountId: string) => RetentionRules): Dated {
  return (found) => {
    if (isTombstone(found) || found.retention === undefined) return found;
    const erases_at = erasureOf(found, rulesOf(found.accountId));
    return { ...found, retention: { ...found.retention, erases_at } };
  };
}

/**
 * Returns the time from which a candidate is to be erased, RFC 3339. Null if it is not: under a hold, or if the account keeps those
 * in its state. Notice is given of a change by somebody too, so that nobody is erased in the second in which a hold is lifted.
 */
export function erasureOf(candidate: Retained, { days, changedAt, noticeMs }: RetentionRules): string | null {
  const { state, hold } = candidate;
  const isOver = state === "completed" || state === "withdrawn";
  const wait = days[isOver ? state : "inactive"];
  if (hold !== null || wait === null) return null;
  const { since, active_at } = timesOf(candidate);
  const active = Date.parse(active_at);
  const from = isOver ? Date.parse(since) : Math.max(Date.parse(since), active);
  const at = Math.max(from + wait * DAY_MS, Math.max(changedAt, active) + noticeMs);
  return Number.isNaN(at) ? null : timestamp(at); // the record may be damaged
}

/** Returns what was noted of the candidate's erasure. A version that knows no retention may have written it since. */
export function notedErasureOf({ retention, version }: Retained): string | null {
  return retention?.version === version ? retention.erases_at : null;
}

function timesOf({ retention, version, updated_at }: Pick<Retained, "retention" | "version" | "updated_at">) {
  const isKnown = retention?.version === version;
  return isKnown
    ? { since: retention.since, active_at: retention.active_at }
    : { since: updated_at, active_at: updated_at };
}
