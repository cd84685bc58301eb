import { LRUCache } from "lru-cache";
import { optedOut } from "../candidates/outreach.ts";
import type { AttemptRecord, CandidateKey, CandidateRecord } from "../candidates/record.ts";
import { service, TO_CANDIDATE } from "../candidates/record.ts";
import type { Edit } from "../candidates/store.ts";
import { KeyedQueue } from "../infra/compare-and-set.ts";
import { claimed, held, lapsed, replanned } from "./edits.ts";
import { expiryOf, pathOf } from "./link-store.ts";
import { type CountedMessage, hourOf } from "./mail-budget.ts";
import type { Attempt } from "./message.ts";
import { type Plan, type PlannedMessage, planOf, type ReminderRules } from "./plan.ts";
import type { AccountRules } from "./rules.ts";
import type { WritingParts } from "./stores.ts";
import { unlessErased } from "../candidates/erasure.ts";

/** Maximum number of candidates in memory, up to some 100 kB each. */
const MAX_RECORDS = 100;

/** What became of a candidate that was due and got no message: `moved` if its plan may be another one now, else `left`. */
export type Unsent = "moved" | "left";

/** A message that is counted and has its link, and is not recorded yet. */
export interface Counted extends CountedMessage, Pick<Attempt, "language" | "expires_at"> {
  readonly due: PlannedMessage;
  /** The account's daily limits by which it was counted, as text. */
  readonly budget: string;
  /** The token of its link. */
  readonly token: string;
}

/** An attempt that was recorded and is to be sent. */
export interface Claim extends Attempt, CountedMessage, Pick<Counted, "token"> {
  /** The attempt as the candidate's record has it. */
  readonly last: AttemptRecord;
  /** Resolves once the address counts as known. If that failed, it counts as new again. */
  readonly noted: Promise<void>;
}

export interface ClaimerOptions extends WritingParts {
  /** PUBLIC_URL, without a slash at its end. */
  readonly publicUrl: string;
  readonly newMessageId: () => string;
}

/**
 * Finds out which message is due, and claims it in two steps before it is sent: counts it (MailBudget), and then records it by
 * a compare-and-set on the candidate. Every method may throw problem store_unavailable.
 */
export function claimerOf({ stores, rules, clock, candidates, publicUrl, newMessageId }: ClaimerOptions) {
  /** Queues the messages of an account to one address. Two at once to a new address would both count as the first. */
  const addresses = new KeyedQueue();
  /** Candidates with a message that is due, as they were when that was found out. */
  const records = new LRUCache<string, CandidateRecord>({ max: MAX_RECORDS });

  /**
   * Returns the first message that is due. If none is, the candidate was due for something else, which is done:
   * references that were not answered in time become unresponsive, and the candidate is replanned.
   */
  async function findDue(key: CandidateKey, { rules }: AccountRules): Promise<PlannedMessage | Unsent> {
    let message: PlannedMessage | undefined;
    let unsent: Unsent = "left";
    const record = await change(key, (before, at) => {
      const plan = planOf(before, rules, Date.parse(at));
      message = dueIn(plan, at)[0];
      const after = message === undefined ? replanned(lapsed(before, plan.lapses, at), rules, at) : before;
      unsent = after === before ? "left" : "moved";
      return after;
    });
    if (message !== undefined && record !== undefined) records.set(key.id, record);
    return message ?? unsent;
  }

  /** Runs a task after all earlier ones about the same address of the account: `count` needs that. */
  const inOrder = <T>({ accountId }: CandidateKey, { email }: PlannedMessage, task: () => Promise<T>) =>
    addresses.run(`${accountId} ${stores.addresses.of(email)}`, task);

  /**
   * Counts a message, and makes its link. Call `record` or `cancel` next. Undefined if a limit is used up: the candidate notes it.
   * @param account its rules as they were when the message was found due.
   */
  async function count(key: CandidateKey, due: PlannedMessage, account: AccountRules): Promise<Counted | undefined> {
    const { budget } = account.rules;
    const { to, email } = due;
    const language = due.language ?? account.assistant.language;
    const address = stores.addresses.of(email);
    const next = { ...key, key: nameOf(key, due), address };
    const counted = await stores.budget.count(next, account.limits, budget, clock.now());
    if ("until" in counted) {
      const isCurrent = (await rules.fresh(key.accountId)).rules.budget === budget;
      if (isCurrent) await change(key, (before) => held(before, to, counted));
      return undefined;
    }
    // Before the record: a store that fails after it would lose the attempt.
    const questions = to === TO_CANDIDATE ? null : account.assistant.reference_questions;
    const expires_at = expiryOf(clock.now());
    const token = await stores.links.add({ ...key, to, address, language, questions, expires_at });
    return { ...counted, due, budget, token, language, expires_at };
  }

  /**
   * Takes a last look at the opt-outs, the budget and the plan, and records the attempt if it is still due; else counts nothing.
   * @param reading its rules, read for this look.
   */
  async function record(counted: Counted, reading: Promise<AccountRules>): Promise<Claim | undefined> {
    const { email } = counted.due;
    const [{ rules }, optOuts] = await Promise.all([reading, stores.optOuts.among(counted.accountId, [email])]);
    const isOptedOut = optOuts.length > 0;
    if (isOptedOut) await change(counted, (before) => optedOut(before, [email]));
    const isCounted = counted.budget === rules.budget && counted.day === hourOf(clock.now()).day;
    const claim = isOptedOut || !isCounted ? undefined : await recordIfDue(counted, rules);
    if (claim === undefined) await cancel(counted);
    return claim;
  }

  /** Takes back what `count` did. The link first: if the process dies in between, a sweep still finds the count. */
  async function cancel(counted: Claim | Counted): Promise<void> {
    await stores.links.drop(counted.token);
    await stores.budget.uncount(counted);
  }

  /** Records the attempt. Returns undefined if it is not due any more. */
  async function recordIfDue(counted: Counted, rules: ReminderRules): Promise<Claim | undefined> {
    const { accountId, address, token } = counted;
    const { to, email } = counted.due;
    const attempt = { messageId: newMessageId(), address };
    let message: PlannedMessage | undefined;
    let isNewAddress = false;
    const edit: Edit = (before, at) => {
      const earlier = before.outreach.recipients.find((each) => each.to === to)?.last;
      isNewAddress = earlier !== undefined && earlier !== null && earlier.address !== address;
      const plan = planOf(before, rules, Date.parse(at));
      message = dueIn(plan, at).find((each) => each.email === email && nameOf(counted, each) === counted.key);
      return message === undefined ? replanned(before, rules, at) : claimed(before, message, attempt, at);
    };
    const record = await change(counted, edit, records.get(counted.id));
    records.delete(counted.id);
    const last = record?.outreach.recipients.find((recipient) => recipient.to === to)?.last;
    if (message === undefined || record === undefined || !last) return undefined;
    const pageUrl = publicUrl + pathOf(to, token);
    const stopUrl = `${pageUrl}/stop?of=${stores.addresses.sealed(accountId, address)}`;
    const noted = stores.budget.claimed(counted).catch(() => undefined);
    return { ...counted, message, messageId: last.message_id, last, record, pageUrl, stopUrl, noted, isNewAddress };
  }

  /** Changes a candidate. Returns undefined if it was erased. @param known as in CandidateStore.change. */
  const change = ({ accountId, id }: CandidateKey, edit: Edit, known?: CandidateRecord) =>
    unlessErased(candidates.change(service(accountId, "reminders"), id, edit, known));

  return { due: findDue, inOrder, count, record, cancel, change };
}

/** Identifies one attempt at a message. It is the same after a crash, so the attempt is counted once. */
function nameOf({ id }: CandidateKey, { to, after }: PlannedMessage): string {
  return `${id} ${to} ${after}`;
}

/** Returns the messages of a plan that are due at `at`, RFC 3339. None in quiet hours. */
function dueIn({ messages, nextAt }: Plan, at: string): PlannedMessage[] {
  const now = Date.parse(at);
  return nextAt <= now ? messages.filter((message) => message.at <= now) : [];
}
