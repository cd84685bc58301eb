import { hasOptedOut, isAskedOfCandidate, isAskedOfReferee } from "../candidates/outreach.ts";
import type { OutreachReason } from "../candidates/document-schema.ts";
import type { AttemptRecord, CandidateRecord, DocumentRecord } from "../candidates/record.ts";
import { type RecipientRecord, type ReferenceRecord, TO_CANDIDATE } from "../candidates/record.ts";

/** A recipient who is still to answer. */
export interface Outstanding {
  readonly to: string;
  readonly email: string | null;
  readonly documents: readonly string[];
  /** Time of the first message. */
  readonly firstAt: number;
  /** True if messages were sent, by the service or by another system before it. */
  readonly asked: boolean;
  /** Time of the last message. -Infinity if none is known. */
  readonly lastAt: number;
  /** When reminders were last turned on again. -Infinity if they never were. */
  readonly resumedAt: number;
  readonly bounced: boolean;
  readonly language: string | null;
  /** What the record knows of the recipient. Undefined if nothing. */
  readonly recipient: RecipientRecord | undefined;
  readonly repeats: AttemptRecord | undefined;
  /** Why the recipient gets no message. */
  readonly block: OutreachReason | undefined;
}

/** Returns those who are still to answer, in the order of the records. */
export function outstandingOf(facts: CandidateRecord): Outstanding[] {
  const asked = facts.references.filter(({ state }) => isAskedOfReferee(state));
  return [...outstandingDocuments(facts), ...asked.map((each) => outstandingReference(each, facts))];
}

/** One message asks for all documents. Those that are not required are asked for as long as another one is. */
function outstandingDocuments(facts: CandidateRecord): Outstanding[] {
  const { email, language, documents, docs_chase_attempts: cap } = facts;
  const isRequired = ({ required }: DocumentRecord) => required;
  const outstanding = documents.filter(({ state }) => isAskedOfCandidate(state));
  if (!outstanding.some(isRequired)) return [];
  const { recipient, retry, ...past } = recipientOf(TO_CANDIDATE, documents, facts);
  const isNew = ({ id, chase }: DocumentRecord) => chase.attempts < cap && recipient?.changed?.documents.includes(id);
  const isAgain = ({ id, chase }: DocumentRecord) => chase.attempts <= cap && retry?.documents.includes(id);
  const again = outstanding.filter((each) => isAgain(each) || isNew(each));
  const repeats = outstanding.some((each) => isRequired(each) && isAgain(each)) ? retry : undefined;
  const listed = repeats === undefined ? outstanding.filter(({ chase }) => chase.attempts < cap) : again;
  const bounced = email !== null && recipient?.bounced === email;
  const block = blockOf({ email, bounced, hasAttempts: listed.some(isRequired) }, facts);
  const firstAt = Date.parse(facts.started_at ?? "");
  const ids = listed.map(({ id }) => id);
  return [{ to: TO_CANDIDATE, email, language, documents: ids, firstAt, ...past, bounced, recipient, repeats, block }];
}

function outstandingReference(reference: ReferenceRecord, facts: CandidateRecord): Outstanding {
  const { id, email, language, state, chase, requested_at } = reference;
  const cap = facts.reference_chase_attempts;
  const { recipient, retry, ...past } = recipientOf(id, [reference], facts);
  const repeats = chase.attempts <= cap ? retry : undefined;
  const hasAttempts = repeats !== undefined || chase.attempts < cap;
  const bounced = state === "bounced";
  const block = blockOf({ email, bounced, hasAttempts }, facts);
  const firstAt = Date.parse(requested_at ?? facts.started_at ?? "");
  return { to: id, email, language, documents: [], firstAt, ...past, bounced, recipient, repeats, block };
}

/**
 * Returns what the record knows of a recipient, and the last attempt if it is to be tried again.
 * @param items the documents or the reference.
 */
function recipientOf(to: string, items: readonly Pick<ReferenceRecord, "chase">[], { outreach }: CandidateRecord) {
  const recipient = outreach.recipients.find((each) => each.to === to);
  const sent = [recipient?.last?.at, ...items.map(({ chase }) => chase.last_at)].flatMap((at) => at ?? []);
  return {
    recipient,
    retry: recipient?.last?.retry_at ? recipient.last : undefined,
    asked: items.some(({ chase }) => chase.attempts > 0),
    lastAt: Math.max(...sent.map((at) => Date.parse(at))),
    resumedAt: Date.parse(outreach.resumed_at ?? "") || -Infinity,
  };
}

/** Returns why somebody gets no message although something is outstanding. */
function blockOf(
  { email, bounced, hasAttempts }: Pick<Outstanding, "email" | "bounced"> & { readonly hasAttempts: boolean },
  { outreach }: CandidateRecord,
): OutreachReason | undefined {
  if (email === null) return "no_email";
  if (hasOptedOut(outreach.opted_out, email)) return "opted_out";
  if (bounced) return "bounced";
  return hasAttempts ? undefined : "cap_reached";
}
