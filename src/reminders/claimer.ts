import { LRUCache } from "lru-cache";
import { optedOut } from "../candidates/outreach.ts";
import type { CandidateKey, CandidateRecord } from "../candidates/record.ts";
import type { CandidateStore, Edit } from "../candidates/store.ts";
import type { Clock } from "../infra/clock.ts";
import { KeyedQueue } from "../infra/compare-and-set.ts";
import { isStoreDown } from "../infra/mongo.ts";
import { isGone } from "../problems.ts";
import type { Composer } from "./composer.ts";
import { claimed, held, lapsed, recognised, replanned } from "./edits.ts";
import type { NewPage } from "./link-store.ts";
import { hourOf, type Reservation } from "./mail-budget.ts";
import { type Plan, type PlannedMessage, planOf } from "./plan.ts";
import type { AccountRules, RulesReader } from "./rules.ts";
import type { ReminderStores } from "./stores.ts";

/** Candidates in memory, up to some 100 kB each. */
const MAX_RECORDS = 100;

/** An attempt that was recorded and is to be sent. */
export interface Claim {
  readonly reservation: Reservation;
  readonly message: PlannedMessage;
  readonly messageId: string;
  /** How often it was given to the mail server, this time included. */
  readonly tries: number;
  /** How often this address refused it for the moment. */
  readonly refusals: number;
  /** The candidate, with this attempt. */
  readonly record: CandidateRecord;
  readonly page: NewPage;
  /** Resolves once the address counts as known. If that failed, it counts as new again. */
  readonly noted: Promise<void>;
}

/** A message that is counted and has its link, and is not recorded yet. */
export interface Reserved {
  readonly due: PlannedMessage;
  /** Its address's hash. */
  readonly address: string;
  /** The account's daily limits by which it was counted, as text. */
  readonly budget: string;
  readonly reservation: Reservation;
  readonly page: NewPage;
}

export interface ClaimerOptions {
  readonly store: Pick<CandidateStore, "change">;
  readonly rules: Pick<RulesReader, "fresh">;
  readonly stores: Pick<ReminderStores, "addresses" | "budget" | "optOuts">;
  readonly composer: Pick<Composer, "newPage">;
  readonly newMessageId: () => string;
  readonly clock: Clock;
}

/**
 * Finds out which message is due, and claims it in two steps before it is sent: counts it (MailBudget), and then records it by
 * a compare-and-set on the candidate. Every method may throw problem store_unavailable.
 */
export class Claimer {
  readonly #options: ClaimerOptions;
  /** Queues the messages of an account to one address. Two at once to a new address would both count as the first. */
  readonly #addresses = new KeyedQueue(isStoreDown);

  /** Candidates with a message that is due, as they were when that was found out. */
  readonly #records = new LRUCache<string, CandidateRecord>({ max: MAX_RECORDS });

  constructor(options: ClaimerOptions) {
    this.#options = options;
  }

  /**
   * Returns the first message that is due. If none is, the candidate was due for something else, which is done:
   * references that were not answered in time become unresponsive, and the plan is made anew. Then it returns whether that
   * changed the candidate.
   */
  async due(key: CandidateKey, { rules }: Pick<AccountRules, "rules">): Promise<PlannedMessage | boolean> {
    let message: PlannedMessage | undefined;
    let isChanged = false;
    const { addresses } = this.#options.stores;
    const record = await this.change(key, (stored, at) => {
      const before = recognised(stored, (hash, email) => addresses.matches(hash, email));
      const plan = planOf(before, rules, Date.parse(at));
      message = dueIn(plan, at)[0];
      const after = message === undefined ? replanned(lapsed(before, plan.lapses, at), rules, at) : before;
      isChanged = after !== stored;
      return after;
    });
    if (message !== undefined && record !== undefined) this.#records.set(key.id, record);
    return message ?? isChanged;
  }

  /** Runs a task after all earlier ones about the same address of the account: `reserve` needs that. */
  inOrder<T>(key: CandidateKey, due: PlannedMessage, task: () => Promise<T>): Promise<T> {
    return this.#addresses.run(`${key.accountId} ${this.#options.stores.addresses.of(due.email)}`, task);
  }

  /**
   * Counts a message, and makes its link. Call `record` or `cancel` next.
   * @param account its rules as they were when the message was found due.
   * @returns undefined if a limit is used up, which the candidate then notes.
   */
  async reserve(key: CandidateKey, due: PlannedMessage, account: AccountRules): Promise<Reserved | undefined> {
    const { composer, rules, stores, clock } = this.#options;
    const { budget } = account.rules;
    const { to, email } = due;
    const address = stores.addresses.of(email);
    const ask = { ...key, key: nameOf(key, due), address };
    const reservation = await stores.budget.reserve(ask, account.limits, budget, clock.now());
    if ("until" in reservation) {
      const isCurrent = (await rules.fresh(key.accountId)).rules.budget === budget;
      if (isCurrent) await this.change(key, (before) => held(before, to, reservation));
      return undefined;
    }
    // Before the record: a store that fails after it would lose the attempt.
    const page = await composer.newPage(key, to, address);
    return { due, address, budget, reservation, page };
  }

  /**
   * Takes a last look at the opt-outs, the budget and the plan, and records the attempt if it is still due.
   * @param reading its rules, read for this look.
   * @returns undefined if it must not be sent. Then nothing is counted.
   */
  async record(key: CandidateKey, reserved: Reserved, reading: Promise<AccountRules>): Promise<Claim | undefined> {
    const { stores, clock } = this.#options;
    const { due, budget, reservation, page } = reserved;
    const { email } = due;
    const [account, optOuts] = await Promise.all([reading, stores.optOuts.among(key.accountId, [email])]);
    const isOptedOut = optOuts.length > 0;
    if (isOptedOut) await this.change(key, (before) => optedOut(before, [email]));
    const isCounted = budget === account.rules.budget && reservation.day === hourOf(clock.now()).day;
    const attempt = isOptedOut || !isCounted ? undefined : await this.#attempt(key, reserved, account);
    if (attempt === undefined) {
      await this.cancel(reserved);
      return undefined;
    }
    return { ...attempt, reservation, page, noted: stores.budget.claimed(reservation).catch(() => undefined) };
  }

  /** Takes back what `reserve` did. The link first: if the process dies in between, a sweep still finds the reservation. */
  async cancel({ page, reservation }: Pick<Reserved, "page" | "reservation">): Promise<void> {
    await page.drop();
    await this.#options.stores.budget.release(reservation);
  }

  /** Records the attempt. Returns undefined if it is not due any more. */
  async #attempt(
    key: CandidateKey,
    { due, address }: Reserved,
    { rules }: AccountRules,
  ): Promise<Omit<Claim, "reservation" | "page" | "noted"> | undefined> {
    const { to, email } = due;
    const attempt = { messageId: this.#options.newMessageId(), address };
    let message: PlannedMessage | undefined;
    const name = nameOf(key, due);
    const edit: Edit = (before, at) => {
      const plan = planOf(before, rules, Date.parse(at));
      message = dueIn(plan, at).find((each) => each.email === email && nameOf(key, each) === name);
      return message === undefined ? replanned(before, rules, at) : claimed(before, message, attempt, at);
    };
    const record = await this.change(key, edit, this.#records.get(key.id));
    this.#records.delete(key.id);
    const last = record?.outreach.recipients.find((recipient) => recipient.to === to)?.last;
    if (message === undefined || record === undefined || !last) return undefined;
    return { message, messageId: last.message_id, tries: last.tries, refusals: last.refusals, record };
  }

  /** Changes a candidate. Returns undefined if it was erased. @param known as in CandidateStore.change. */
  async change(
    { accountId, id }: CandidateKey,
    edit: Edit,
    known?: CandidateRecord,
  ): Promise<CandidateRecord | undefined> {
    try {
      return await this.#options.store.change(accountId, id, edit, known);
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }
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
