import { isKeyed } from "./address.ts";
import { timestamp } from "../infra/clock.ts";
import { type ChaseRules, hasOptedOut, planOf } from "./chase.ts";
import {
  type CandidateRecord,
  NEVER_CHASED,
  type OutreachRecord,
  type RecipientRecord,
  TO_CANDIDATE,
} from "./record.ts";

/** After every time that can come: the sender finds the candidate only if settings change. */
const NEVER = "9999-12-31T23:59:59.999Z";

/** A candidate that nobody was written to about. The next plan fills in the rest. */
export const NO_OUTREACH: OutreachRecord = {
  next_at: null,
  reason: null,
  look_at: null,
  rules: null,
  recipients: [],
  opted_out: [],
};

/**
 * Returns the record with a new plan of its chase: what the API shows of it, and when the sender has something to do.
 * @param rules undefined while mail is not configured.
 * @param now milliseconds since the epoch.
 */
export function planned(record: CandidateRecord, rules: ChaseRules | undefined, now: number): CandidateRecord {
  const recipients = currentRecipients(record, now);
  const opted_out = currentOptOuts(record);
  const facts = { ...record, outreach: { recipients, opted_out } };
  const { nextAt, reason, lapses, waitsForSettings } = planOf(facts, rules, now);
  const lookAt = Math.min(nextAt, ...lapses.map(({ at }) => at));
  const outreach: OutreachRecord = {
    next_at: nextAt === Infinity ? null : timestamp(nextAt),
    reason,
    look_at: lookAt < Infinity ? timestamp(lookAt) : waitsForSettings ? NEVER : null,
    rules: rules?.version ?? null,
    recipients,
    opted_out,
  };
  return { ...record, outreach };
}

/** Leaves out deleted references, and forgets a bounce once the candidate has another address, and a hold that is over. */
function currentRecipients({ email, references, outreach }: CandidateRecord, now: number): readonly RecipientRecord[] {
  return outreach.recipients
    .filter(({ to }) => to === TO_CANDIDATE || references.some(({ id }) => id === to))
    .map((recipient) =>
      recipient.bounced === null || recipient.bounced === email ? recipient : { ...recipient, bounced: null },
    )
    .map((recipient) =>
      recipient.held && Date.parse(recipient.held.until) <= now ? { ...recipient, held: null } : recipient,
    );
}

/** Drops the entries of addresses that were changed. If such an address returns, the store looks it up again. */
function currentOptOuts(record: CandidateRecord): readonly string[] {
  const { opted_out } = record.outreach;
  if (opted_out.length === 0) return opted_out;
  const emails = addressesOf(record);
  return opted_out.filter((kept) => isKeyed(kept) || emails.some((email) => hasOptedOut([kept], email)));
}

interface Addressed {
  readonly email: string | null;
  readonly references: readonly { readonly email: string | null }[];
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

/**
 * Returns the record as it would be if nobody had been chased. The limit on a record's size counts this, so that no
 * reminder fails because a record is full. What the chase adds is at most about 40 kB.
 */
export function unchased(record: CandidateRecord): CandidateRecord {
  return {
    ...record,
    state: "action_required", // it follows from the references' states; this is the longest one
    outreach: NO_OUTREACH,
    documents: record.documents.map((document) => ({ ...document, chase: NEVER_CHASED })),
    references: record.references.map((reference) => ({
      ...reference,
      chase: NEVER_CHASED,
      state: reference.state === "unresponsive" ? "requested" : reference.state,
    })),
  };
}
