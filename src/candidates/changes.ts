import { timestamp } from "../infra/clock.ts";
import { comparable, hasOptedOut, isAskedOfCandidate, withRecipient } from "./outreach.ts";
import { type CandidateRecord, type DocumentRecord, type ReferenceRecord, TO_CANDIDATE } from "./record.ts";

/** Time for which a message about a change waits for further changes, in milliseconds. Several are then one message. */
export const GATHER_MS = 120_000;

/**
 * Notes what a write changed for the people who are asked: they hear of it before the interval is over (interface.md,
 * Reminders). A candidate that was not started before the write has no such changes. Pure.
 * @param now milliseconds since the epoch.
 */
export function withChanges(before: CandidateRecord, after: CandidateRecord, now: number): CandidateRecord {
  if (before.started_at === null) return after;
  const documents = after.documents.filter((each) => isAskedAnew(each, before)).map(({ id }) => id);
  const candidate = canHear(before, before.email, after, after.email);
  const referees = after.references.filter((each) => hearsAnew(each, before, after)).map(({ id }) => id);
  const own = candidate || documents.length > 0 ? [TO_CANDIDATE] : [];
  return [...own, ...referees].reduce((record, to) => {
    const isOwn = to === TO_CANDIDATE;
    return noted(record, to, isOwn ? documents : [], isOwn ? candidate : true, now);
  }, after);
}

/** A document that another system has asked for keeps the interval after its last message. */
function isAskedAnew({ id, state, rejection_reason, chase }: DocumentRecord, before: CandidateRecord): boolean {
  if (!isAskedOfCandidate(state)) return false;
  const known = before.documents.find((each) => each.id === id);
  if (known === undefined) return chase.attempts === 0;
  if (known.state === state) return known.rejection_reason !== rejection_reason;
  return state !== "requested" || !isAskedOfCandidate(known.state);
}

function hearsAnew(reference: ReferenceRecord, before: CandidateRecord, after: CandidateRecord): boolean {
  const { id, state, email, chase, requested_at } = reference;
  if (state !== "requested") return false;
  const known = before.references.find((each) => each.id === id);
  if (known === undefined) return chase.attempts === 0;
  return known.requested_at !== requested_at || canHear(before, known.email, after, email);
}

/** Returns whether messages reach somebody whom they did not reach: another address, or one that is no longer stopped. */
function canHear(before: CandidateRecord, was: string | null, after: CandidateRecord, is: string | null): boolean {
  if (is === null) return false;
  if (was === null || comparable(was) !== comparable(is)) return true;
  return hasOptedOut(before.outreach.opted_out, is) && !hasOptedOut(after.outreach.opted_out, is);
}

function noted(record: CandidateRecord, to: string, documents: readonly string[], person: boolean, now: number) {
  return withRecipient(record, to, ({ changed, ...recipient }) => {
    const recent = changed && Date.parse(changed.at) > now - GATHER_MS ? changed : undefined;
    const all = new Set([...(changed?.documents ?? []), ...documents]);
    const change = { at: recent?.at ?? timestamp(now), documents: [...all], person: person || !!changed?.person };
    return { ...recipient, changed: change };
  });
}
