import { GATHER_MS } from "../candidates/changes.ts";
import { nothingToSend, type PlannedOutreach, type Planner } from "../candidates/outreach.ts";
import { type AttemptRecord, type CandidateRecord, TO_CANDIDATE } from "../candidates/record.ts";
import type { OutreachReason } from "../candidates/document-schema.ts";
import { timestamp } from "../infra/clock.ts";
import type { Restored } from "../infra/restore.ts";
import { quietUntil } from "../settings/quiet-hours.ts";
import type { QuietHours } from "../settings/schema.ts";
import { type Outstanding, outstandingOf } from "./outstanding.ts";

export interface ReminderRules {
  /** False if nothing is sent: the account is paused or suspended, or the assistant may send no email. */
  readonly enabled: boolean;
  /** From one message to the next, in milliseconds. */
  readonly intervalMs: number;
  readonly quietHours: QuietHours;
  /** The account's daily limits, as text. A hold ends when they change. */
  readonly budget: string;
  /** The last restore, if reminders that were due before its end do not go out. */
  readonly restored?: Restored;
  /** Names the settings that these rules come from. Equal if they are. */
  readonly version: string;
}

export interface PlannedMessage {
  /** TO_CANDIDATE, or the id of a reference. */
  readonly to: string;
  readonly email: string;
  /** The ids of the documents that it lists. Empty for a referee. */
  readonly documents: readonly string[];
  /** When it may go out, quiet hours aside: milliseconds since the epoch. In the past if it is overdue. */
  readonly at: number;
  /** True if `at` is the end of a hold. */
  readonly held: boolean;
  /** True if it waits for an operator's word after a restore. */
  readonly waits: boolean;
  /** The last attempt to the recipient, with its number of tries. Empty before the first. */
  readonly after: string;
  /** The attempt that it repeats, because the mail server refused it for the moment. */
  readonly repeats: AttemptRecord | undefined;
  /** Those of the documents that it is about because they changed. */
  readonly changed: readonly string[];
  /** The recipient's own language. Null for that of the assistant. */
  readonly language: string | null;
}

/** What the sender does next with one candidate. Times are milliseconds since the epoch. */
export interface Plan {
  /** The next message to each recipient that gets one, in the order of the records. */
  readonly messages: readonly PlannedMessage[];
  /** When the next message may go out, quiet hours included. `Infinity` if none will. */
  readonly nextAt: number;
  /** Why none will, or mail_limit if it waits for a budget. Null if nothing holds it up. */
  readonly reason: OutreachReason | null;
  /** The references that become unresponsive, and when. */
  readonly lapses: readonly { readonly reference: string; readonly at: number }[];
  /** What comes next for each recipient who is still to answer. */
  readonly chases: NonNullable<PlannedOutreach["chases"]>;
  /** True if other settings could bring a message. */
  readonly waitsForSettings: boolean;
}

/** After every time that can come: the sender finds the candidate only if settings change. */
const NEVER = "9999-12-31T23:59:59.999Z";

/** Returns what plans the reminders of an account's candidates by these rules. */
export function plannerOf(rules: ReminderRules): Planner {
  return (record, now) => {
    const { nextAt, reason, lapses, waitsForSettings, chases } = planOf(record, rules, now);
    const lookAt = Math.min(nextAt, ...lapses.map(({ at }) => at));
    return {
      next_at: nextAt === Infinity ? null : timestamp(nextAt),
      reason,
      look_at: lookAt < Infinity ? timestamp(lookAt) : waitsForSettings ? NEVER : null,
      rules: rules.version,
      chases,
    };
  };
}

/**
 * Plans the reminders of a candidate (interface.md, Reminders): who gets a message next and when, or why nobody does. Pure, and
 * the only place that decides it. @param rules undefined if the service sends no mail. @param now milliseconds since the epoch.
 */
export function planOf(facts: CandidateRecord, rules: ReminderRules | undefined, now: number): Plan {
  const nothing = nothingToSend(facts) ?? (facts.outreach_enabled ? undefined : "disabled");
  if (nothing !== undefined) return idle(nothing);
  if (!rules?.enabled) return { ...idle("disabled"), waitsForSettings: rules !== undefined };
  const all = outstandingOf(facts);
  const planned = all.flatMap((each) => messageFor(each, rules));
  const messages = planned.filter(({ waits }) => !waits);
  const lapses = all.flatMap((each) => lapseOf(each, rules.intervalMs));
  const chases = all.map((each) => chaseOf(each, planned, rules, now));
  if (messages.length === 0 && planned.length > 0)
    return { ...idle("restored"), lapses, chases, waitsForSettings: true };
  const block = all.find((each) => each.block !== undefined)?.block ?? null;
  if (messages.length === 0) return { ...idle(block), lapses, chases };
  const earliest = Math.max(now, Math.min(...messages.map(({ at }) => at)));
  const nextAt = quietUntil(rules.quietHours, earliest) ?? earliest;
  const waitsForSettings = nextAt === Infinity;
  const isHeld = messages.some(({ at, held }) => held && at === earliest);
  const reason = waitsForSettings ? "quiet_hours" : isHeld ? "mail_limit" : null;
  return { messages, nextAt, reason, lapses, chases, waitsForSettings };
}

/** Returns when the recipient's next message goes out, or why none will. */
function chaseOf({ to, block }: Outstanding, planned: readonly PlannedMessage[], rules: ReminderRules, now: number) {
  const chase = (next_at: string | null, reason: OutreachReason | null) => ({ to, next_at, reason });
  const message = planned.find((each) => each.to === to);
  if (message === undefined || message.waits) return chase(null, message ? "restored" : (block ?? null));
  const earliest = Math.max(now, message.at);
  const at = quietUntil(rules.quietHours, earliest) ?? earliest;
  if (at === Infinity) return chase(null, "quiet_hours");
  return chase(timestamp(at), message.held && message.at === earliest ? "mail_limit" : null);
}

function idle(reason: OutreachReason | null): Plan {
  return { messages: [], nextAt: Infinity, reason, lapses: [], chases: [], waitsForSettings: false };
}

function messageFor(outstanding: Outstanding, { budget, intervalMs, restored }: ReminderRules): PlannedMessage[] {
  const { to, email, language, documents, firstAt, lastAt, resumedAt, recipient, repeats, block } = outstanding;
  if (email === null || block !== undefined) return [];
  const { last, held } = recipient ?? {};
  const after = last ? `${last.message_id} ${last.tries}` : "";
  const next = repeats ? Date.parse(repeats.retry_at ?? repeats.at) : Math.max(firstAt, lastAt + intervalMs);
  const later = restored?.overdue === "skip" && next <= restored.at ? restored.at + intervalMs : next;
  const planned = Math.max(broughtForward(later, outstanding), resumedAt);
  const isOverdue = restored !== undefined && planned <= restored.at;
  const due = isOverdue && restored.overdue === "skip" ? restored.at + intervalMs : planned;
  const waits = isOverdue && restored.overdue === "hold";
  const heldUntil = held && (held.budget ?? budget) === budget ? Date.parse(held.until) : 0;
  const changed = documents.filter(
    (id) => recipient?.changed?.documents.includes(id) || repeats?.changed?.includes(id),
  );
  const at = Math.max(due, heldUntil);
  return [{ to, email, language, documents, changed, at, held: heldUntil > due, waits, after, repeats }];
}

/**
 * Returns when a message goes out whose recipient hears of a change, or whom a client has reminded. Neither counts if it was
 * before reminders were turned on again. A change of documents does not shorten the pause after a temporary refusal.
 */
function broughtForward(next: number, { documents, recipient, resumedAt, repeats }: Outstanding): number {
  const { changed, remind_at } = recipient ?? {};
  const reminded = Date.parse(remind_at ?? "");
  if (reminded >= resumedAt) return Math.min(next, reminded);
  if (!changed || Date.parse(changed.at) < resumedAt) return next;
  const isNews = changed.person || (!repeats && changed.documents.some((id) => documents.includes(id)));
  const gathered = Date.parse(changed.at) + GATHER_MS;
  return !isNews ? next : repeats ? Math.min(next, gathered) : gathered;
}

/**
 * A referee who gets no further message has the interval to answer: after the last one, or after the first one's time, or
 * after reminders were turned on again.
 */
function lapseOf({ to, firstAt, lastAt, resumedAt, bounced, block, asked }: Outstanding, intervalMs: number) {
  if (to === TO_CANDIDATE || bounced) return [];
  if (block !== "opted_out" && (block !== "cap_reached" || !asked)) return [];
  return [{ reference: to, at: Math.max(lastAt === -Infinity ? firstAt : lastAt, resumedAt) + intervalMs }];
}
