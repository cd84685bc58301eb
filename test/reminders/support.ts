import { noMail } from "../../src/candidates/outreach.ts";
import { claimed } from "../../src/reminders/edits.ts";
import { planOf, plannerOf, type ReminderRules } from "../../src/reminders/plan.ts";
import { newDocument } from "../../src/candidates/documents.ts";
import { newReference } from "../../src/candidates/references.ts";
import type { CandidateRecord, DocumentRecord, ReferenceRecord } from "../../src/candidates/record.ts";
import { nextRecord } from "../../src/candidates/version.ts";
import { rulesOf } from "../../src/reminders/rules.ts";
import { ASSISTANT_DEFAULTS, QUIET_HOURS_DEFAULTS, type QuietHours } from "../../src/settings/schema.ts";
import { author, candidateRecord } from "../support/records.ts";

export const HOUR = 3_600_000;
export const START = Date.parse("2026-03-02T10:00:00.000Z");
export const iso = (epochMs: number): string => new Date(epochMs).toISOString();

/** Rules with an interval of so many hours. */
export function rules(hours = 48, quietHours: Partial<QuietHours> = {}, more = {}): ReminderRules {
  const assistant = { ...ASSISTANT_DEFAULTS, chase_interval_hours: hours, ...more };
  return rulesOf(
    assistant,
    { ...QUIET_HOURS_DEFAULTS, ...quietHours },
    { paused: false, limits: { perAccount: 2_000, newAddresses: 500 } },
  );
}

export function requestedDocument(id: string, more: Partial<DocumentRecord> = {}): DocumentRecord {
  const facts = { id, now: iso(START), content: undefined, started: true };
  return { ...newDocument({ name: `Document ${id}` }, facts), ...more };
}

export function requestedReference(id: string, more: Partial<ReferenceRecord> = {}): ReferenceRecord {
  const reference = newReference({ email: `${id}@example.com` }, { id, now: iso(START), started: true });
  return { ...reference, ...more };
}

/** The version that follows a write at that time, by these rules. */
export function next(
  before: CandidateRecord,
  edited: CandidateRecord,
  at: number,
  by?: ReminderRules,
): CandidateRecord {
  return nextRecord(before, edited, author().by, { at, now: at }, by === undefined ? noMail : plannerOf(by));
}

/** A candidate that was started at START, with a plan by these rules. */
export function startedCandidate(
  given: Partial<CandidateRecord>,
  by: ReminderRules | undefined = rules(),
): CandidateRecord {
  const record = candidateRecord({ email: "ada@example.com", started_at: iso(START), ...given });
  return next(record, record, START, by);
}

export const RULES = rules(48);

/** What the plan says at a time: to whom, what and when, in hours since the start. */
export function planned(record: CandidateRecord, hours = 0, by = RULES) {
  const { messages, nextAt, reason, lapses } = planOf(record, by, START + hours * HOUR);
  return {
    messages: messages.map(({ to, documents: listed, at }) => [to, ...listed, (at - START) / HOUR]),
    next: (nextAt - START) / HOUR,
    reason,
    lapses: lapses.map(({ reference, at }) => [reference, (at - START) / HOUR]),
  };
}

/** Sends the messages that are due, so many hours after the start. */
export function sent(record: CandidateRecord, hours: number, by = RULES): CandidateRecord {
  const now = START + hours * HOUR;
  const { messages, nextAt } = planOf(record, by, now);
  const due = nextAt > now ? [] : messages.filter(({ at }) => at <= now);
  const after = due.reduce(
    (one, message) => claimed(one, message, { messageId: `${message.to}.${hours}`, address: message.email }, iso(now)),
    record,
  );
  return next(record, after, now, by);
}

export const nothing = (reason: string) => ({ messages: [], next: Infinity, reason, lapses: [] });
