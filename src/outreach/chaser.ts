import { setTimeout as wait } from "node:timers/promises";
import pLimit from "p-limit";
import type { Logger } from "pino";
import type { PlannedMessage } from "../candidates/chase.ts";
import { bounced, deferred } from "../candidates/chase-edits.ts";
import type { ChaseStore } from "../candidates/chase-store.ts";
import type { CandidateKey, CandidateReader } from "../candidates/reader.ts";
import { TO_CANDIDATE } from "../candidates/record.ts";
import { isTombstone } from "../candidates/tombstone.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { Metrics } from "../infra/metrics.ts";
import type { Claim, Claimer } from "./claimer.ts";
import type { Composer } from "./compose.ts";
import { type Fault, type Mailer, MAX_CONNECTIONS, type Outcome } from "./mailer.ts";
import type { Message } from "./message.ts";
import type { Pace } from "./pace.ts";
import { DueQueue } from "./queue.ts";
import type { RulesReader } from "./rules.ts";
import type { OutreachStores } from "./stores.ts";

const MINUTE_MS = 60_000;
/** Longest pause before a message is tried again, in milliseconds. */
const MAX_BACK_OFF_MS = 60 * MINUTE_MS;
/** A message that was refused for the moment this often counts as bounced. About five days (RFC 5321, 4.5.4.1). */
const MAX_REFUSALS = 125;
/** Longest pause before the mail server is tried again, in milliseconds. */
const MAX_PAUSE_MS = 5 * MINUTE_MS;

const NO_TLS = "it does not take STARTTLS. Use smtps://, or add ?insecure=true if nobody can listen on the way to it";

export interface ChaserOptions {
  readonly store: { readonly reader: Pick<CandidateReader, "find"> };
  readonly due: Pick<ChaseStore, "due">;
  readonly rules: Pick<RulesReader, "fresh">;
  readonly stores: Pick<OutreachStores, "budget" | "messages" | "removeAll">;
  readonly mailer: Mailer;
  readonly claimer: Claimer;
  readonly composer: Pick<Composer, "compose">;
  /** Called at the beginning of each pass. */
  readonly newPace: () => Pick<Pace, "turn">;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn">;
  readonly metrics: Pick<Metrics, "messages" | "mailOutages">;
  /** First pause before a message is tried again, in milliseconds. It doubles each time. */
  readonly backOffMs?: number;
  /** First pause after the mail server could not be used, in milliseconds. It doubles each time. */
  readonly pauseMs?: number;
}

interface Pass {
  readonly pace: Pick<Pace, "turn">;
  /** Ends the pass early. */
  readonly signal: AbortSignal;
}

/** What became of a candidate that was due. */
type Handled = "sent" | "moved" | "left";

/**
 * Sends the reminders that are due. A message is claimed before it is sent (Claimer). So no number of replicas, no crash and
 * no race exceeds a budget or a cap, or sends a message twice. A crash between the two loses the attempt.
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
      const how = handled.map((each) => (each.status === "fulfilled" ? each.value : "left"));
      count += how.filter((each) => each === "sent").length;
      const failures = handled.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
      if (failures.length > 0) throw new AggregateError(failures, `${failures.length} candidates failed`);
      if (how.every((each) => each === "left") || this.#mustStop(pass)) return count;
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
    const fault = await this.#options.mailer.fault();
    if (fault !== undefined) this.#noteOutage(fault);
    return fault === undefined;
  }

  /** Sends one message about a candidate, if one is due. */
  async #chase(key: CandidateKey, pass: Pass): Promise<Handled> {
    const { claimer, rules, composer } = this.#options;
    const due = this.#mustStop(pass) ? undefined : await claimer.due(key);
    if (due === undefined) return "left";
    if (!(await pass.pace.turn(pass.signal)) || this.#isPaused()) return "left";
    const account = await rules.fresh(key.accountId); // the turn may have been a long wait
    const claim = await claimer.claim(key, due, account);
    if (claim === undefined || claim === "moved") return claim ?? "left";
    this.#count(claim.message, "planned");
    await this.#send(key, claim, composer.compose(claim, account));
    return "sent";
  }

  async #send(key: CandidateKey, claim: Claim, mail: Message): Promise<void> {
    const { mailer, stores, store, clock, log } = this.#options;
    const { message, messageId, tries } = claim;
    const { to, documents } = message;
    const outcome = await mailer.send(mail);
    const tried = { message_id: messageId, to, documents, tries, ...outcome, at: timestamp(clock.now()) };
    this.#count(message, outcome.kind);
    log.info({ account: key.accountId, candidate: key.id, ...tried }, "reminder");
    try {
      await this.#settle(key, claim, outcome);
      await stores.messages.add(key, tried);
    } finally {
      // If the candidate was erased meanwhile, the erasure has not removed this entry and the link.
      const found = await store.reader.find(key.accountId, key.id);
      if (found === null || isTombstone(found)) await stores.removeAll(key);
    }
    const wasSent = outcome.kind !== "outage" && outcome.kind !== "deferred";
    if (wasSent) await stores.budget.settled(claim.reservation, outcome);
    else await Promise.all([stores.budget.release(claim.reservation), claim.page.drop()]); // the next try has its own
  }

  #count({ to }: PlannedMessage, outcome: string): void {
    const recipient = to === TO_CANDIDATE ? "candidate" : "referee";
    this.#options.metrics.messages.inc({ recipient, outcome });
  }

  /** Records what became of an attempt, if that changes what comes next. */
  async #settle(key: CandidateKey, claim: Claim, { kind, ...fault }: Outcome): Promise<void> {
    if (kind === "outage") this.#noteOutage(fault);
    else this.#outages = 0;
    if (kind === "sent" || kind === "unconfirmed") return;
    const { backOffMs = MINUTE_MS } = this.#options;
    const { messageId, message } = claim;
    const { to, email } = message;
    const refusals = claim.refusals + (kind === "deferred" ? 1 : 0);
    // After an outage, the first message that is tried again shows whether mail works. So none waits long.
    const waitMs = kind === "outage" ? backOffMs : Math.min(backOffMs * 2 ** (refusals - 1), MAX_BACK_OFF_MS);
    const isLasting = kind === "bounced" || (kind === "deferred" && refusals >= MAX_REFUSALS);
    await this.#options.claimer.change(key, (before, now) =>
      isLasting
        ? bounced(before, to, email, now)
        : deferred(before, { to, messageId, refusals }, timestamp(Date.parse(now) + waitMs)),
    );
  }

  #noteOutage({ code, step }: Fault): void {
    if (this.#isPaused()) return; // several messages failed at once
    const { pauseMs = 5_000, log, metrics } = this.#options;
    const pause_ms = Math.min(pauseMs * 2 ** this.#outages, MAX_PAUSE_MS);
    this.#outages++;
    this.#pausedUntil = performance.now() + pause_ms;
    metrics.mailOutages.inc();
    const advice = step === "STARTTLS" && /^50[02]$/.test(code) ? `: ${NO_TLS}` : "";
    log.warn({ code, step, pause_ms }, `the mail server cannot be used${advice}`);
  }
}
