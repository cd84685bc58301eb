import { setTimeout as wait } from "node:timers/promises";
import { type CandidateKey, TO_CANDIDATE } from "../candidates/record.ts";
import { timestamp } from "../infra/clock.ts";
import { FairLimit } from "../infra/fair-limit.ts";
import { isStoreDown } from "../infra/mongo.ts";
import { type Claim, claimerOf, type ClaimerOptions, type Counted, type Unsent } from "./claimer.ts";
import { type DueQueue, dueQueue } from "./due-queue.ts";
import { bounced, deferred } from "./edits.ts";
import { mailOutage, type MailOutageOptions } from "./mail-outage.ts";
import type { Outcome } from "./mailer.ts";
import { messageOf } from "./message.ts";
import type { Pace } from "./pace.ts";
import type { PlannedMessage } from "./plan.ts";
import { isUsed, recorder } from "./recorder.ts";
import type { AccountRules } from "./rules.ts";

const MINUTE_MS = 60_000;
/** Maximum pause before a retry of a message, in milliseconds. */
const MAX_BACK_OFF_MS = 60 * MINUTE_MS;
/** Number of temporary refusals after which a message counts as bounced. About five days (RFC 5321, 4.5.4.1). */
const MAX_REFUSALS = 125;

/** Minimum number of candidates of one account that are handled at once. */
const MIN_SHARE = 40;
/** Pause before the next look at what is due while candidates are handled, in milliseconds. */
const LOOK_AGAIN_MS = 1_000;

export interface ReminderSenderOptions extends ClaimerOptions, MailOutageOptions {
  /** MAIL_FROM. */
  readonly mailFrom: string;
  /** Maximum number of messages that are sent at once. */
  readonly connections: number;
  readonly newPace: () => Pick<Pace, "turn">;
}

type Pass = Readonly<{ pace: Pick<Pace, "turn">; queue: DueQueue; signal: AbortSignal }>;

export type ReminderSender = ReturnType<typeof reminderSender>;

/**
 * Sends the reminders that are due. A message is claimed before it is sent (Claimer). So no number of replicas, no crash and
 * no race exceeds a budget or a cap, or sends a message twice. A crash between the two loses the attempt.
 */
export function reminderSender(options: ReminderSenderOptions) {
  const { rules, stores, clock, mailer, publicUrl, mailFrom, connections, newPace, metrics, log } = options;
  const claimer = claimerOf(options);
  const record = recorder(stores);
  const outage = mailOutage(options);
  /** Limits store work outside of sending, so that other requests do not wait long for the store. */
  const storing = new FairLimit(Math.ceil(connections / 3));
  /** Limits counted messages to twice the connections: some are counted ahead, so that no connection waits for the store. */
  const counting = new FairLimit(2 * connections);
  const sending = new FairLimit(connections);
  const turns = new FairLimit(1);
  let running: Promise<unknown> = Promise.resolve();

  const mustStop = ({ signal }: Pass) => signal.aborted || outage.isPaused();
  const store = <T>({ accountId }: CandidateKey, task: () => Promise<T>) => storing.run(accountId, task);
  const count = ({ to }: PlannedMessage, outcome: string) =>
    metrics.messages.inc({ recipient: to === TO_CANDIDATE ? "candidate" : "referee", outcome });

  /** Handles due candidates, and takes more as they finish. Ends when none is in progress and none is due. */
  async function handleDue(signal: AbortSignal): Promise<number> {
    if (!(await outage.isOver())) return 0;
    const queue = dueQueue(stores.plans, Math.max(MIN_SHARE, 4 * connections));
    const pass = { pace: newPace(), queue, signal };
    const failures: unknown[] = [];
    const failed = (error: unknown) => void failures.push(error);
    let sent = 0;
    for (;;) {
      const isOver = mustStop(pass) || failures.some(isStoreDown);
      const keys = isOver ? [] : ((await queue.next(timestamp(clock.now())).catch(failed)) ?? []);
      const accounts = new Map<string, Promise<AccountRules>>(); // one read for all of an account
      for (const key of keys) {
        const account = accounts.get(key.accountId) ?? rules.fresh(key.accountId);
        accounts.set(key.accountId, account);
        void remind(key, account, pass)
          .catch(failed)
          .then((handled) => {
            if (handled === "sent") sent++;
            queue.done(key, handled === undefined || handled === "left");
          });
      }
      if (queue.size() === 0) break;
      if (keys.length === 0) await Promise.race([queue.room(), wait(LOOK_AGAIN_MS, undefined, { ref: false })]);
    }
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} candidates failed`);
    return sent;
  }

  /** Sends one message about a candidate, if one is due. */
  async function remind(key: CandidateKey, reading: Promise<AccountRules>, pass: Pass): Promise<"sent" | Unsent> {
    const account = await reading;
    const due = await store(key, async () => (mustStop(pass) ? "left" : claimer.due(key, account)));
    if (typeof due === "string") return due;
    const sent = await claimer.inOrder(key, due, () =>
      counting.run(key.accountId, async () => {
        if (mustStop(pass)) return "left";
        const counted = await store(key, () => claimer.count(key, due, account));
        if (counted === undefined) return "moved";
        return sending.run(key.accountId, () => send(counted, pass));
      }),
    );
    if (typeof sent === "string") return sent;
    await conclude(sent, pass.queue);
    return "sent";
  }

  /** Waits for a turn, takes a last look, and sends the message. */
  async function send(counted: Counted, pass: Pass): Promise<[Claim, Outcome, subject: string] | Unsent> {
    const { accountId } = counted;
    const isTurn = await turns.run(accountId, () => pass.pace.turn(pass.signal));
    if (!isTurn || outage.isPaused()) {
      await claimer.cancel(counted);
      return "left";
    }
    const account = rules.current(accountId); // the turn may have been a long wait
    const claim = await claimer.record(counted, account);
    if (claim === undefined) return "moved";
    count(claim.message, "planned");
    const message = messageOf(claim, await account, { host: new URL(publicUrl).host, mailFrom });
    const [outcome] = await Promise.all([mailer.send(message), claim.noted]);
    if (outcome.kind === "outage")
      outage.note(outcome); // before another message takes the connection
    else outage.end();
    return [claim, outcome, message.subject];
  }

  /** Records what became of a message that was given to the mail server. */
  async function conclude([claim, outcome, subject]: readonly [Claim, Outcome, string], queue: DueQueue) {
    const { accountId, id, message, last } = claim;
    const { to, documents } = message;
    const { message_id, tries } = last;
    const tried = { message_id, to, documents, tries, ...outcome, at: timestamp(clock.now()) };
    count(message, outcome.kind);
    log.info({ account: accountId, candidate: id, ...tried }, "reminder");
    try {
      await store(claim, () => settle(claim, outcome));
    } finally {
      await record({ tried: { ...tried, subject }, counted: claim }, queue.size());
    }
    if (!isUsed(outcome)) await store(claim, () => claimer.cancel(claim)); // the next try has its own
  }

  /** Records what became of an attempt, if that changes what comes next. */
  async function settle(claim: Claim, { kind }: Outcome): Promise<void> {
    if (kind === "sent" || kind === "unconfirmed") return;
    const refusals = claim.last.refusals + (kind === "deferred" ? 1 : 0);
    // After an outage, the first message that is tried again shows whether mail works. So none waits long.
    const waitMs = kind === "outage" ? MINUTE_MS : Math.min(MINUTE_MS * 2 ** (refusals - 1), MAX_BACK_OFF_MS);
    const isLasting = kind === "bounced" || (kind === "deferred" && refusals >= MAX_REFUSALS);
    const { to, email } = claim.message;
    const { messageId } = claim;
    await claimer.change(claim, (before, now) =>
      isLasting
        ? bounced(before, to, email, now)
        : deferred(before, { to, messageId, refusals }, timestamp(Date.parse(now) + waitMs)),
    );
  }

  return {
    /**
     * Sends what is due now. Returns the number of messages that were given to the mail server.
     * @param signal ends the work early: after the messages that are being sent.
     * @throws AggregateError with every failure. The other candidates are handled all the same.
     */
    run: (signal: AbortSignal) => (running = handleDue(signal)),

    /**
     * Waits until what `run` has begun is recorded, at most so many milliseconds. Abort `run`, and close the mailer, first.
     * Never fails.
     */
    settled: (withinMs: number) =>
      Promise.race([running.catch(() => undefined), wait(withinMs, undefined, { ref: false })]),
  };
}
