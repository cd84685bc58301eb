import { type Found, isTombstone } from "./erasure.ts";
import type { CandidateRecord, DocumentRecord, OutreachRecord, RecipientRecord, ReferenceRecord } from "./record.ts";
import { TO_CANDIDATE } from "./record.ts";
import type { Chase, OutreachReason } from "./document-schema.ts";

/** What a record knows of reminders: who can be reminded, who was, and who has opted out. Pure. */

/** Plans the reminders of a candidate. @param now milliseconds since the epoch. */
export type Planner = (record: CandidateRecord, now: number) => PlannedOutreach;
export type PlannedOutreach = Pick<OutreachRecord, "next_at" | "reason" | "look_at" | "rules" | "chases">;

/** What reminders add to writes of candidates. */
export interface Reminders {
  /** Returns what plans the reminders of the account's candidates. No round trip if this process knows its settings. */
  plannerOf(accountId: string): Promise<Planner>;
  /** Returns those of the addresses whose owners want no more messages of the account. No round trip without addresses. */
  optedOut(accountId: string, emails: readonly string[]): Promise<string[]>;
}

const NO_PLAN: PlannedOutreach = { next_at: null, reason: null, look_at: null, rules: null, chases: [] };

/** Outreach state of a candidate with no reminders sent and none planned. */
export const NO_OUTREACH: OutreachRecord = { ...NO_PLAN, recipients: [], opted_out: [] };

/** The plan of a service that sends no mail. */
export const noMail: Planner = (record) => ({ ...NO_PLAN, reason: nothingToSend(record) ?? "disabled" });

/** Returns the record with a new plan, and without what it knew of recipients and addresses that are gone. */
export function planned(record: CandidateRecord, plan: Planner, now: number): CandidateRecord {
  const isCurrent = (address: string) => addressesOf(record).some((email) => comparable(email) === address);
  const opted_out = record.outreach.opted_out.filter(isCurrent); // if such an address returns, the store looks it up again
  const outreach = { ...record.outreach, recipients: currentRecipients(record, now), opted_out };
  const current = { ...record, outreach };
  return { ...current, outreach: { ...outreach, ...plan(current, now) } };
}

/**
 * Leaves out deleted references, bounces of addresses that the candidate no longer has, and holds that are over. A request to
 * remind somebody now ends once nothing is asked of them.
 */
function currentRecipients(record: CandidateRecord, now: number): readonly RecipientRecord[] {
  const { email, documents, references, outreach } = record;
  const asksDocuments = documents.some(({ state }) => isAskedOfCandidate(state));
  const asked = references.filter(({ state }) => isAskedOfReferee(state)).map(({ id }) => id);
  const isAsked = (to: string) => (to === TO_CANDIDATE ? asksDocuments : asked.includes(to));
  return outreach.recipients
    .filter(({ to }) => to === TO_CANDIDATE || references.some(({ id }) => id === to))
    .map((recipient) => ({
      ...recipient,
      ...(recipient.bounced !== email && { bounced: null }),
      ...(recipient.remind_at && !isAsked(recipient.to) && { remind_at: null }),
      ...(recipient.held && Date.parse(recipient.held.until) <= now && { held: null }),
    }));
}

type ChangeOfRecipient = (known: RecipientRecord) => RecipientRecord;

/** Changes what the record knows of a recipient, who becomes the last one. */
export function withRecipient(record: CandidateRecord, to: string, change: ChangeOfRecipient): CandidateRecord {
  const known = record.outreach.recipients.find((recipient) => recipient.to === to);
  const others = record.outreach.recipients.filter((recipient) => recipient !== known);
  const recipients = [...others, change(known ?? { to, last: null, bounced: null })];
  return { ...record, outreach: { ...record.outreach, recipients } };
}

/** Returns why there is nothing to remind anybody of, whatever the settings say. Undefined if there is something. */
export function nothingToSend(record: CandidateRecord): OutreachReason | undefined {
  const { withdrawn, started_at, state, documents, references } = record;
  if (withdrawn) return "withdrawn";
  if (started_at === null) return "not_started";
  const isAwaited =
    documents.some((document) => document.required && isAskedOfCandidate(document.state)) ||
    references.some((reference) => isAskedOfReferee(reference.state));
  return state !== "completed" && isAwaited ? undefined : "nothing_outstanding";
}

/** The states of documents that it is the candidate's turn to send. */
export const ASKED_OF_CANDIDATE: readonly DocumentRecord["state"][] = ["requested", "rejected", "expired"];

export function isAskedOfCandidate(state: DocumentRecord["state"]): boolean {
  return ASKED_OF_CANDIDATE.includes(state);
}

/** Reasons that concern a candidate as a whole. */
const OF_ALL: readonly (OutreachReason | null)[] = ["withdrawn", "not_started", "disabled"];

/** Returns how a document or reference is chased: what was sent, and what comes next for the person who is asked. */
export function chaseOf(item: DocumentRecord | ReferenceRecord, record: CandidateRecord): Chase {
  const { outreach, docs_chase_attempts: cap } = record;
  const isReference = "relationship" in item;
  const chase = (next_at: string | null, reason: OutreachReason | null) => ({ ...item.chase, next_at, reason });
  const isAsked = isReference ? isAskedOfReferee(item.state) : isAskedOfCandidate(item.state);
  if (!isAsked || outreach.chases === undefined) return chase(null, null);
  const to = isReference ? item.id : TO_CANDIDATE;
  const next = outreach.chases.find((each) => each.to === to);
  if (next === undefined)
    return chase(null, OF_ALL.includes(outreach.reason) ? outreach.reason : "nothing_outstanding");
  const last = outreach.recipients.find((each) => each.to === to)?.last;
  const isRepeated = last?.retry_at && last.documents.includes(item.id);
  const isLeftOut = !isReference && next.next_at !== null && !isRepeated && item.chase.attempts >= cap;
  return isLeftOut ? chase(null, "cap_reached") : chase(next.next_at, next.reason);
}

/** A bounced reference is still outstanding, though no reminder can reach the referee. */
export function isAskedOfReferee(state: ReferenceRecord["state"]): boolean {
  return state === "requested" || state === "bounced";
}

interface Addressed {
  readonly email: string | null;
  readonly references: readonly { readonly email: string | null }[];
}

/** Returns whom a candidate can be asked about. Nobody if it was erased. */
export function contactsOf(found: Found): Pick<CandidateRecord, "email" | "references"> {
  return isTombstone(found) ? { email: null, references: [] } : found;
}

/** Returns the addresses of a candidate and its references. */
export function addressesOf({ email, references }: Addressed): string[] {
  return [email, ...references.map((reference) => reference.email)].filter((address) => address !== null);
}

/** Returns the addresses of `after` that `before` does not have. */
export function addedAddresses(before: Addressed, after: Addressed): string[] {
  const known = new Set(addressesOf(before));
  return addressesOf(after).filter((email) => !known.has(email));
}

/** Records that the owners of these addresses want no more messages from the account. */
export function optedOut(record: CandidateRecord, emails: Iterable<string>): CandidateRecord {
  const { outreach } = record;
  const known = new Set(outreach.opted_out);
  const all = new Set([...known, ...Array.from(emails, comparable)]);
  return all.size === known.size ? record : { ...record, outreach: { ...outreach, opted_out: [...all] } };
}

/** Returns whether the owner of an address has opted out. @param optedOut as OutreachRecord.opted_out. */
export function hasOptedOut(optedOut: readonly string[], email: string): boolean {
  return optedOut.length > 0 && optedOut.includes(comparable(email));
}

/** Returns an address in lower case, for comparison. */
export function comparable(email: string): string {
  return email.toLowerCase();
}
