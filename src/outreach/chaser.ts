import { setTimeout as wait } from "node:timers/promises";
import pLimit from "p-limit";
import type { Logger } from "pino";
import { type Plan, planOf, type PlannedMessage } from "../candidates/chase.ts";
import { bounced, claimed, deferred, lapsed, replanned } from "../candidates/chase-edits.ts";
import type { ChaseStore } from "../candidates/chase-store.ts";
import type { CandidateKey, CandidateReader } from "../candidates/reader.ts";
import { type CandidateRecord, TO_CANDIDATE } from "../candidates/record.ts";
import type { CandidateStore, Edit } from "../candidates/store.ts";
import { isTombstone } from "../candidates/tombstone.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { Metrics } from "../infra/metrics.ts";
import { isGone } from "../problems.ts";
import type { Composer } from "./compose.ts";
import { type Mailer, MAX_CONNECTIONS, type Outcome } from "./mailer.ts";
import type { Message } from "./message.ts";
import type { Pace } from "./pace.ts";
import { DueQueue } from "./queue.ts";
import type { AccountRules, RulesReader } from "./rules.ts";
import type { OutreachStores } from "./stores.ts";

const MINUTE_MS = 60_000;
/** Longest pause before a message is tried again, in milliseconds. */
const MAX_BACK_OFF_MS = 60 * MINUTE_MS;
/** A message that was refused for the moment this often counts as bounced. About five days (RFC 5321, 4.5.4.1). */
const MAX_REFUSALS = 125;
/** Longest pause before the mail server is tried again, in milliseconds. */
const MAX_PAUSE_MS = 5 * MINUTE_MS;

export interface ChaserOptions {
  readonly store: Pick<CandidateStore, "change"> & { readonly reader: Pick<CandidateReader, "find"> };
  readonly due: Pick<ChaseStore, "due">;
  readonly rules: Pick<RulesReader, "fresh">;
  readonly stores: Pick<OutreachStores, "messages" | "removeAll">;
  readonly mailer: Mailer;
  readonly composer: Composer;
  /** Called at the beginning of each pass. */
  readonly newPace: () => Pick<Pace, "turn">;
  readonly newMessageId: () => string;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn">;
  readonly metrics: Pick<Metrics, "messages" | "mailOutages">;
  /** First pause before a message is tried again, in milliseconds. It doubles each time. */
  readonly backOffMs?: number;
  /** First pause after the mail server could not be used, in milliseconds. It doubles each time. */
  readonly pauseMs?: number;
}

/** An attempt that was recorded and is to be sent. */
interface Claim {
  readonly message: PlannedMessage;
  readonly messageId: string;
  /** How often it was given to the mail server, this time included. */
  readonly tries: number;
  /** How often this address refused it for the moment. */
  readonly refusals: number;
  /** The candidate, with this attempt. */
  readonly record: CandidateRecord;
}

interface Pass {
  readonly pace: Pick<Pace, "turn">;
  /** Ends the pass early. */
  readonly signal: AbortSignal;
}

/**
 * Sends the reminders that are due. An attempt is recorded by a compare-and-set on the candidate before it is sent. So no
 * number of replicas, no crash and no race exceeds a cap or sends a message twice. A crash between the two loses the attempt.
 */
export class Chaser {
  readonly #options: ChaserOptions;
  /** The mail server is not used before this time, by `performance.now()`. */
  #pausedUntil = 0;
  /** How often in a row the mail server could not be used. */
  #outages = 0;
  #running: Promise<unknown> = Promise.resolve();
  readonly #queue: DueQueue;

  constructor(options: ChaserOptions) {
    this.#options = options;
    this.#queue = new DueQueue(options.due);
  }

  /**
   * Sends what is due now. Returns how many messages were given to the mail server.
   * @param signal ends the work early: after the messages that are being sent.
   * @throws AggregateError with every failure. The other candidates are handled all the same.
   */
  run(signal: AbortSignal): Promise<number> {
    const running = this.#pass({ pace: this.#options.newPace(), signal });
    this.#running = running;
    return running;
  }

  /**
   * Waits until what `run` has begun is recorded, at most so many milliseconds. Abort `run`, and close the mailer, first.
   * Never fails.
   */
  async settled(withinMs: number): Promise<void> {
    await Promise.race([this.#running.catch(() => undefined), wait(withinMs, undefined, { ref: false })]);
  }

  async #pass(pass: Pass): Promise<number> {
    if (!(await this.#mailWorks())) return 0;
    const atOnce = pLimit(MAX_CONNECTIONS);
    let count = 0;
    for (;;) {
      const due = await this.#queue.next(timestamp(this.#options.clock.now()));
      const handled = await Promise.allSettled(due.map((key) => atOnce(() => this.#chase(key, pass))));
      const sent = handled.reduce((sum, each) => sum + (each.status === "fulfilled" ? each.value : 0), 0);
      count += sent;
      const failures = handled.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
      if (failures.length > 0) throw new AggregateError(failures, `${failures.length} candidates failed`);
      if (sent === 0 || this.#mustStop(pass)) return count;
    }
  }

  #mustStop({ signal }: Pass): boolean {
    return signal.aborted || this.#isPaused();
  }

  #isPaused(): boolean {
    return performance.now() < this.#pausedUntil;
  }

  async #mailWorks(): Promise<boolean> {
    if (this.#isPaused()) return false;
    if (this.#outages === 0) return true;
    const works = await this.#options.mailer.works();
    if (!works) this.#noteOutage("");
    return works;
  }

  /** Sends one message about a candidate, if one is due. Returns how many. */
  async #chase(key: CandidateKey, pass: Pass): Promise<number> {
    const { rules, composer } = this.#options;
    const due = this.#mustStop(pass) ? undefined : await this.#dueMessage(key);
    if (due === undefined) return 0;
    const pageUrl = await composer.newPage(key, due); // a store that fails after the claim would lose the attempt
    if (!(await pass.pace.turn(pass.signal)) || this.#isPaused()) return 0;
    const account = await rules.fresh(key.accountId); // the turn may have been a long wait
    const claim = await this.#claim(key, due, account);
    if (claim === undefined) return 0;
    await this.#send(key, claim, composer.compose({ ...claim, pageUrl }, account));
    return 1;
  }

  /**
   * Returns the first message that is due. If none is, the candidate was due for something else, which is done:
   * references that were not answered in time become unresponsive, and the plan is made anew.
   */
  async #dueMessage(key: CandidateKey): Promise<PlannedMessage | undefined> {
    const { rules } = await this.#options.rules.fresh(key.accountId);
    let message: PlannedMessage | undefined;
    await this.#change(key, (before, at) => {
      const plan = planOf(before, rules, Date.parse(at));
      message = dueIn(plan, at)[0];
      return message === undefined ? replanned(lapsed(before, plan.lapses, at), rules, at) : before;
    });
    return message;
  }

  /** Takes a last look at the plan, and records the attempt if it is still due. Undefined if it is not. */
  async #claim(key: CandidateKey, due: PlannedMessage, { rules }: AccountRules): Promise<Claim | undefined> {
    const newId = this.#options.newMessageId();
    let message: PlannedMessage | undefined;
    const record = await this.#change(key, (before, at) => {
      const plan = planOf(before, rules, Date.parse(at));
      message = dueIn(plan, at).find(({ to, email }) => to === due.to && email === due.email);
      return message === undefined ? replanned(before, rules, at) : claimed(before, message, newId, at);
    });
    const last = record?.outreach.recipients.find(({ to }) => to === due.to)?.last;
    if (message === undefined || record === undefined || !last) return undefined;
    this.#count(message, "planned");
    return { message, messageId: last.message_id, tries: last.tries, refusals: last.refusals, record };
  }

  /** Changes a candidate. Undefined if it was erased. */
  async #change({ accountId, id }: CandidateKey, edit: Edit): Promise<CandidateRecord | undefined> {
    try {
      return await this.#options.store.change(accountId, id, edit);
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  async #send(key: CandidateKey, claim: Claim, mail: Message): Promise<void> {
    const { mailer, stores, store, clock, log } = this.#options;
    const { message, messageId, tries } = claim;
    const { to, documents } = message;
    const outcome = await mailer.send(mail);
    const tried = { message_id: messageId, to, documents, tries, ...outcome, at: timestamp(clock.now()) };
    this.#count(message, outcome.kind);
    log.info({ candidate: key.id, ...tried }, "reminder");
    try {
      await this.#settle(key, claim, outcome);
      await stores.messages.add(key, tried);
    } finally {
      // If the candidate was erased meanwhile, the erasure has not removed this entry and the link.
      const found = await store.reader.find(key.accountId, key.id);
      if (found === null || isTombstone(found)) await stores.removeAll(key);
    }
  }

  #count({ to }: PlannedMessage, outcome: string): void {
    const recipient = to === TO_CANDIDATE ? "candidate" : "referee";
    this.#options.metrics.messages.inc({ recipient, outcome });
  }

  /** Records what became of an attempt, if that changes what comes next. */
  async #settle(key: CandidateKey, claim: Claim, { kind, code }: Outcome): Promise<void> {
    if (kind === "outage") this.#noteOutage(code);
    else this.#outages = 0;
    if (kind === "sent" || kind === "unconfirmed") return;
    const { backOffMs = MINUTE_MS } = this.#options;
    const { messageId, message } = claim;
    const { to, email } = message;
    const refusals = claim.refusals + (kind === "deferred" ? 1 : 0);
    // After an outage, the first message that is tried again shows whether mail works. So none waits long.
    const waitMs = kind === "outage" ? backOffMs : Math.min(backOffMs * 2 ** (refusals - 1), MAX_BACK_OFF_MS);
    const isLasting = kind === "bounced" || (kind === "deferred" && refusals >= MAX_REFUSALS);
    await this.#change(key, (before, now) =>
      isLasting
        ? bounced(before, to, email, now)
        : deferred(before, { to, messageId, refusals }, timestamp(Date.parse(now) + waitMs)),
    );
  }

  #noteOutage(code: string): void {
    if (this.#isPaused()) return; // several messages failed at once
    const { pauseMs = 5_000, log, metrics } = this.#options;
    const pause_ms = Math.min(pauseMs * 2 ** this.#outages, MAX_PAUSE_MS);
    this.#outages++;
    this.#pausedUntil = performance.now() + pause_ms;
    metrics.mailOutages.inc();
    log.warn({ code, pause_ms }, "the mail server cannot be used");
  }
}

/** Returns the messages of a plan that are due at `at`, RFC 3339. None in quiet hours. */
function dueIn({ messages, nextAt }: Plan, at: string): PlannedMessage[] {
  const now = Date.parse(at);
  return nextAt <= now ? messages.filter((message) => message.at <= now) : [];
}
