import { hasOptedOut, planned, withRecipient } from "../candidates/outreach.ts";
import type { AttemptRecord, CandidateRecord, DocumentRecord, Hold, ReferenceRecord } from "../candidates/record.ts";
import { TO_CANDIDATE } from "../candidates/record.ts";
import { type Plan, type PlannedMessage, plannerOf, type ReminderRules } from "./plan.ts";

/** Pure edits of what reminders record. CandidateStore.change runs them. `now` is RFC 3339. */

/**
 * Records an attempt, before it is sent. A new one adds 1 to the attempts of each document that the message lists, or of
 * the reference. A repeated one adds nothing to those that it listed before: they were counted when it was first made.
 * @param attempt the messageId is that of a new attempt: a repeated one keeps its own. The address is its hash (AddressHash).
 */
export function claimed(
  record: CandidateRecord,
  { to, documents, changed, repeats }: PlannedMessage,
  { messageId, address }: { messageId: string; address: string },
  now: string,
): CandidateRecord {
  const last: AttemptRecord = {
    message_id: repeats?.message_id ?? messageId,
    at: now,
    documents,
    ...(changed.length > 0 && { changed }),
    tries: (repeats?.tries ?? 0) + 1,
    address,
    refusals: repeats?.address === address ? repeats.refusals : 0,
    retry_at: null,
  };
  const ids = new Set([to, ...documents]);
  const counted = <Item extends DocumentRecord | ReferenceRecord>(item: Item): Item => {
    const isCounted = repeats !== undefined && (item.id === to || repeats.documents.includes(item.id));
    const attempts = item.chase.attempts + (isCounted ? 0 : 1);
    return ids.has(item.id) ? { ...item, chase: { attempts, last_at: now }, updated_at: now } : item;
  };
  return {
    ...withRecipient(record, to, ({ changed: _c, remind_at: _r, ...recipient }) => ({ ...recipient, last })),
    documents: record.documents.map(counted),
    references: record.references.map(counted),
  };
}

/** Notes that the attempt is to be tried again after so many temporary refusals, unless another one was made since. */
export function deferred(
  record: CandidateRecord,
  { to, messageId, refusals }: { to: string; messageId: string; refusals: number },
  retryAt: string,
): CandidateRecord {
  const last = record.outreach.recipients.find((recipient) => recipient.to === to)?.last;
  if (last?.message_id !== messageId) return record;
  return withRecipient(record, to, (recipient) => ({ ...recipient, last: { ...last, refusals, retry_at: retryAt } }));
}

/** Notes that mail to this address bounced, unless the recipient has another address by now. */
export function bounced(record: CandidateRecord, to: string, email: string, now: string): CandidateRecord {
  if (to === TO_CANDIDATE) {
    if (record.email !== email) return record;
    return withRecipient(record, to, (recipient) => ({ ...recipient, bounced: email }));
  }
  const isMeant = (each: ReferenceRecord) => each.id === to && each.email === email && each.state === "requested";
  return moved(record, isMeant, "bounced", now);
}

/** Records that the account may write to these addresses again. */
export function optedIn(record: CandidateRecord, emails: readonly string[]): CandidateRecord {
  const { outreach } = record;
  const opted_out = outreach.opted_out.filter((kept) => !emails.some((email) => hasOptedOut([kept], email)));
  return opted_out.length === outreach.opted_out.length ? record : { ...record, outreach: { ...outreach, opted_out } };
}

/** Postpones the next message to a recipient to the next day. */
export function held(record: CandidateRecord, to: string, hold: Hold): CandidateRecord {
  return withRecipient(record, to, (recipient) => ({ ...recipient, held: hold }));
}

/** Brings the next messages of a plan forward to now, except those that wait for another day's budget. */
export function reminded(record: CandidateRecord, { messages }: Plan, now: string): CandidateRecord {
  const open = messages.filter(({ held }) => !held);
  const after = open.reduce((all, { to }) => withRecipient(all, to, (each) => ({ ...each, remind_at: now })), record);
  return { ...after, outreach: { ...after.outreach, reminded_at: now } };
}

/** Moves the references that did not answer in time to unresponsive. */
export function lapsed(record: CandidateRecord, lapses: Plan["lapses"], now: string): CandidateRecord {
  const ids = new Set(lapses.filter(({ at }) => at <= Date.parse(now)).map(({ reference }) => reference));
  return moved(record, ({ id }) => ids.has(id), "unresponsive", now);
}

/** Moves some references to another state. Returns the same record if there are none. */
function moved(
  record: CandidateRecord,
  isMeant: (reference: ReferenceRecord) => boolean,
  state: ReferenceRecord["state"],
  now: string,
): CandidateRecord {
  if (!record.references.some(isMeant)) return record;
  const references = record.references.map((each) => (isMeant(each) ? { ...each, state, updated_at: now } : each));
  return { ...record, references };
}

/** Returns the same record if these rules give the plan that it has stored, else a copy, so that the write replans it. */
export function replanned(record: CandidateRecord, rules: ReminderRules, now: string): CandidateRecord {
  const { outreach } = planned(record, plannerOf(rules), Date.parse(now));
  return JSON.stringify(outreach) === JSON.stringify(record.outreach) ? record : { ...record };
}
