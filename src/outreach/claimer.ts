import { planOf, type Plan, type PlannedMessage } from "../candidates/chase.ts";
import { claimed, held, lapsed, optedOut, recognised, replanned } from "../candidates/chase-edits.ts";
import type { CandidateKey } from "../candidates/reader.ts";
import type { CandidateRecord } from "../candidates/record.ts";
import type { CandidateStore, Edit } from "../candidates/store.ts";
import type { Clock } from "../infra/clock.ts";
import { KeyedQueue } from "../infra/keyed-queue.ts";
import { isStoreDown } from "../infra/mongo.ts";
import { isGone } from "../problems.ts";
import type { Composer } from "./compose.ts";
import type { NewPage } from "./link-store.ts";
import type { Reservation } from "./mail-budget.ts";
import type { AccountRules, RulesReader } from "./rules.ts";
import type { OutreachStores } from "./stores.ts";

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
}

/** A message that is due. */
interface Due {
  readonly due: PlannedMessage;
  /** Its address's hash. */
  readonly address: string;
  readonly account: AccountRules;
}

export interface ClaimerOptions {
  readonly store: Pick<CandidateStore, "change">;
  readonly rules: Pick<RulesReader, "fresh">;
  readonly stores: Pick<OutreachStores, "addresses" | "budget" | "optOuts">;
  readonly composer: Pick<Composer, "newPage">;
  readonly newMessageId: () => string;
  readonly clock: Clock;
}

/**
 * Finds out which message is due, and claims it: counts it (MailBudget), and then records it by a compare-and-set on the
 * candidate, before it is sent. Every method may throw problem store_unavailable.
 */
export class Claimer {
  readonly #options: ClaimerOptions;
  /** Serialises the messages of an account to one address. Two at once to a new address would both count as the first. */
  readonly #addresses = new KeyedQueue(isStoreDown);

  constructor(options: ClaimerOptions) {
    this.#options = options;
  }

  /**
   * Returns the first message that is due. If none is, the candidate was due for something else, which is done:
   * references that were not answered in time become unresponsive, and the plan is made anew.
   */
  async due(key: CandidateKey): Promise<PlannedMessage | undefined> {
    const { rules } = await this.#options.rules.fresh(key.accountId);
    let message: PlannedMessage | undefined;
    const { addresses } = this.#options.stores;
    await this.change(key, (stored, at) => {
      const before = recognised(stored, (hash, email) => addresses.matches(hash, email));
      const plan = planOf(before, rules, Date.parse(at));
      message = dueIn(plan, at)[0];
      return message === undefined ? replanned(lapsed(before, plan.lapses, at), rules, at) : before;
    });
    return message;
  }

  /**
   * Claims a message that is due.
   * @returns undefined if it is not due any more; `moved` if it must not be sent, which the candidate then notes.
   */
  claim(key: CandidateKey, due: PlannedMessage, account: AccountRules): Promise<Claim | "moved" | undefined> {
    const address = this.#options.stores.addresses.of(due.email);
    return this.#addresses.run(`${key.accountId} ${address}`, () => this.#reserved(key, { due, address, account }));
  }

  /** Counts a message, makes its link and records it. */
  async #reserved(key: CandidateKey, { due, address, account }: Due): Promise<Claim | "moved" | undefined> {
    const { composer, stores, clock } = this.#options;
    const { optOuts, budget } = stores;
    if ((await optOuts.among(key.accountId, [due.email])).length > 0) {
      await this.change(key, (before) => optedOut(before, [due.email]));
      return "moved";
    }
    const ask = { ...key, key: nameOf(key, due), address };
    const reserved = await budget.reserve(ask, account.limits, account.rules.budget, clock.now());
    if ("until" in reserved) {
      await this.change(key, (before) => held(before, due.to, reserved));
      return "moved";
    }
    const page = await composer.newPage(key, due.to, address); // a store that fails after the claim would lose the attempt
    const attempt = await this.#record(key, due, { address, account });
    if (attempt === undefined) {
      await page.drop();
      await budget.release(reserved);
      return undefined;
    }
    await budget.claimed(reserved).catch(() => undefined); // then the address counts as new again
    return { ...attempt, reservation: reserved, page };
  }

  /** Takes a last look at the plan, and records the attempt if it is still due. Undefined if it is not. */
  async #record(
    key: CandidateKey,
    due: PlannedMessage,
    { address, account: { rules } }: Pick<Due, "address" | "account">,
  ): Promise<Omit<Claim, "reservation" | "page"> | undefined> {
    const attempt = { messageId: this.#options.newMessageId(), address };
    let message: PlannedMessage | undefined;
    const record = await this.change(key, (before, at) => {
      const plan = planOf(before, rules, Date.parse(at));
      message = dueIn(plan, at).find((each) => each.email === due.email && nameOf(key, each) === nameOf(key, due));
      return message === undefined ? replanned(before, rules, at) : claimed(before, message, attempt, at);
    });
    const last = record?.outreach.recipients.find(({ to }) => to === due.to)?.last;
    if (message === undefined || record === undefined || !last) return undefined;
    return { message, messageId: last.message_id, tries: last.tries, refusals: last.refusals, record };
  }

  /** Changes a candidate. Undefined if it was erased. */
  async change({ accountId, id }: CandidateKey, edit: Edit): Promise<CandidateRecord | undefined> {
    try {
      return await this.#options.store.change(accountId, id, edit);
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
