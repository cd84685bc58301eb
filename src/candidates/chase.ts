import { quietUntil } from "../settings/quiet-hours.ts";
import type { QuietHours } from "../settings/schema.ts";
import { comparable, guessableHash } from "./address.ts";
import {
  type AttemptRecord,
  type CandidateRecord,
  type DocumentRecord,
  type Hold,
  type RecipientRecord,
  type ReferenceRecord,
  TO_CANDIDATE,
} from "./record.ts";
import type { OutreachReason } from "./schema.ts";

export interface ChaseRules {
  /** False if nothing is sent: the account is paused or suspended, or the assistant may send no email. */
  readonly enabled: boolean;
  /** From one message to the next, in milliseconds. */
  readonly intervalMs: number;
  readonly quietHours: QuietHours;
  /** The account's daily limits, as text. A hold ends when they change. */
  readonly budget: string;
  /** Names the settings that these rules come from. Equal if they are. */
  readonly version: string;
}

/**
 * Returns what an account's settings say about the chase. Undefined while mail is not configured. One round trip if this
 * process does not know them.
 */
export type RulesOf = (accountId: string) => Promise<ChaseRules | undefined>;

export interface PlannedMessage {
  /** TO_CANDIDATE, or the id of a reference. */
  readonly to: string;
  readonly email: string;
  /** The ids of the documents that it lists. Empty for a referee. */
  readonly documents: readonly string[];
  /** When it may go out, quiet hours aside: milliseconds since the epoch. In the past if it is overdue. */
  readonly at: number;
  /** Whether `at` is the end of a hold. */
  readonly held: boolean;
  /** The last attempt to the recipient, with its number of tries. Empty before the first. */
  readonly after: string;
  /** The attempt that it repeats, because the mail server refused it for the moment. */
  readonly repeats: AttemptRecord | undefined;
}

/** What the chase does next with one candidate. Times are milliseconds since the epoch. */
export interface Plan {
  /** The next message to each recipient that gets one, in the order of the records. */
  readonly messages: readonly PlannedMessage[];
  /** When the next message may go out, quiet hours included. `Infinity` if none will. */
  readonly nextAt: number;
  /** Why none will, or mail_limit if it waits for a budget. Null if nothing holds it up. */
  readonly reason: OutreachReason | null;
  /** The references that become unresponsive, and when. */
  readonly lapses: readonly { readonly reference: string; readonly at: number }[];
  /** Whether other settings could bring a message. */
  readonly waitsForSettings: boolean;
}

/** What the plan depends on, besides the rules and the time. */
export type ChaseFacts = Pick<
  CandidateRecord,
  | "state"
  | "email"
  | "started_at"
  | "withdrawn"
  | "docs_chase_attempts"
  | "reference_chase_attempts"
  | "documents"
  | "references"
> & { readonly outreach: Pick<CandidateRecord["outreach"], "recipients" | "opted_out"> };

interface Want {
  readonly to: string;
  readonly email: string | null;
  readonly documents: readonly string[];
  /** Whether the caps allow another attempt. */
  readonly more: boolean;
  /** When the first message is due. */
  readonly since: number;
  readonly bounced: boolean;
  readonly held: Hold | undefined;
  /** The last attempt. Undefined if none was made. */
  readonly last: AttemptRecord | undefined;
  readonly repeats: AttemptRecord | undefined;
}

/**
 * Plans the chase of a candidate (interface.md, The chase): who gets a message next and when, or why nobody does. Pure,
 * and the only place that decides it.
 * @param rules undefined while mail is not configured.
 * @param now milliseconds since the epoch.
 */
export function planOf(facts: ChaseFacts, rules: ChaseRules | undefined, now: number): Plan {
  if (facts.withdrawn) return idle("withdrawn");
  if (facts.started_at === null) return idle("not_started");
  const wants = facts.state === "completed" ? [] : wantsOf(facts, Date.parse(facts.started_at));
  if (wants.length === 0) return idle("nothing_outstanding");
  if (!rules?.enabled) return { ...idle("disabled"), waitsForSettings: rules !== undefined };
  const blocks = wants.map((want) => blockOf(want, facts.outreach.opted_out));
  const messages = wants.flatMap((want, n) => (blocks[n] === undefined ? messageFor(want, rules) : []));
  const lapses = wants.flatMap((want, n) => lapseOf(want, blocks[n], rules));
  if (messages.length === 0) return { ...idle(blocks.find((reason) => reason !== undefined) ?? null), lapses };
  const earliest = Math.max(now, Math.min(...messages.map(({ at }) => at)));
  const nextAt = quietUntil(rules.quietHours, earliest) ?? earliest;
  const never = nextAt === Infinity;
  const isHeld = messages.some(({ at, held }) => held && at === earliest);
  return {
    messages,
    nextAt,
    reason: never ? "quiet_hours" : isHeld ? "mail_limit" : null,
    lapses,
    waitsForSettings: never,
  };
}

function idle(reason: OutreachReason | null): Plan {
  return { messages: [], nextAt: Infinity, reason, lapses: [], waitsForSettings: false };
}

function wantsOf(facts: ChaseFacts, startedAt: number): Want[] {
  const { recipients } = facts.outreach;
  const recipientOf = (to: string) => recipients.find((each) => each.to === to);
  return [
    ...documentsWant(facts, startedAt, recipientOf(TO_CANDIDATE)),
    ...facts.references.flatMap((reference) =>
      referenceWant(reference, facts.reference_chase_attempts, startedAt, recipientOf(reference.id)),
    ),
  ];
}

/** The states of documents that it is the candidate's turn to send. */
export const ASKED_OF_CANDIDATE: readonly DocumentRecord["state"][] = ["requested", "rejected", "expired"];

/** Returns whether it is the candidate's turn to send a document in this state. */
export function isAskedOfCandidate(state: DocumentRecord["state"]): boolean {
  return ASKED_OF_CANDIDATE.includes(state);
}

/** One message asks for all documents. Those that are not required are asked for as long as another one is. */
function documentsWant(
  { email, documents, docs_chase_attempts: cap }: ChaseFacts,
  since: number,
  recipient: RecipientRecord | undefined,
): Want[] {
  const outstanding = documents.filter(({ state }) => isAskedOfCandidate(state));
  if (!outstanding.some(({ required }) => required)) return [];
  const last = recipient?.last ?? undefined;
  const again = outstanding.filter(({ id, chase }) => chase.attempts <= cap && last?.documents.includes(id));
  const repeats = last !== undefined && last.retry_at !== null && again.some(isRequired) ? last : undefined;
  const listed = repeats === undefined ? outstanding.filter(({ chase }) => chase.attempts < cap) : again;
  return [
    {
      to: TO_CANDIDATE,
      email,
      documents: listed.map(({ id }) => id),
      more: listed.some(isRequired),
      since,
      bounced: recipient !== undefined && recipient.bounced !== null && recipient.bounced === email,
      held: recipient?.held ?? undefined,
      last,
      repeats,
    },
  ];
}

function isRequired({ required }: DocumentRecord): boolean {
  return required;
}

function referenceWant(
  { id, email, state, chase, requested_at }: ReferenceRecord,
  cap: number,
  startedAt: number,
  recipient: RecipientRecord | undefined,
): Want[] {
  if (state !== "requested" && state !== "bounced") return [];
  const last = recipient?.last ?? undefined;
  const repeats = last !== undefined && last.retry_at !== null && chase.attempts <= cap ? last : undefined;
  return [
    {
      to: id,
      email,
      documents: [],
      more: repeats !== undefined || chase.attempts < cap,
      since: requested_at === null ? startedAt : Date.parse(requested_at),
      bounced: state === "bounced",
      held: recipient?.held ?? undefined,
      last,
      repeats,
    },
  ];
}

/** Returns why somebody gets no message although something is outstanding. */
function blockOf({ email, bounced, more }: Want, optedOut: readonly string[]): OutreachReason | undefined {
  if (email === null) return "no_email";
  if (hasOptedOut(optedOut, email)) return "opted_out";
  if (bounced) return "bounced";
  return more ? undefined : "cap_reached";
}

/** Returns whether the owner of an address asked for no more messages. @param optedOut as OutreachRecord.opted_out. */
export function hasOptedOut(optedOut: readonly string[], email: string): boolean {
  return optedOut.length > 0 && (optedOut.includes(comparable(email)) || optedOut.includes(guessableHash(email)));
}

function messageFor(want: Want, rules: ChaseRules): PlannedMessage[] {
  const { to, email, documents, held, last, repeats } = want;
  if (email === null) return [];
  const after = last === undefined ? "" : `${last.message_id} ${last.tries}`;
  const due = dueAt(want, rules);
  const heldUntil = held !== undefined && (held.budget ?? rules.budget) === rules.budget ? Date.parse(held.until) : 0;
  return [{ to, email, documents, at: Math.max(due, heldUntil), held: heldUntil > due, after, repeats }];
}

function dueAt({ since, last, repeats }: Want, { intervalMs }: ChaseRules): number {
  if (repeats !== undefined) return Date.parse(repeats.retry_at ?? repeats.at);
  return last === undefined ? since : Date.parse(last.at) + intervalMs;
}

/** A referee who gets no further message has the interval after the last one to answer, or after the first one's time. */
function lapseOf(
  { to, since, last, bounced }: Want,
  block: OutreachReason | undefined,
  { intervalMs }: ChaseRules,
): Plan["lapses"] {
  if (to === TO_CANDIDATE || bounced) return [];
  if (block !== "opted_out" && (block !== "cap_reached" || last === undefined)) return [];
  return [{ reference: to, at: (last === undefined ? since : Date.parse(last.at)) + intervalMs }];
}
