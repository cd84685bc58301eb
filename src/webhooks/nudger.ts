import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import type { AccountStore } from "../accounts/store.ts";
import { DONE } from "../audit/entry.ts";
import type { AuditStore } from "../audit/store.ts";
import type { ChangedAccount, ChangedAccounts, ChangeNote } from "../candidates/changed-accounts-store.ts";
import type { Checkpoints } from "../candidates/checkpoints.ts";
import { type Clock, HOUR_MS, timestamp } from "../infra/clock.ts";
import { compareAndSet } from "../infra/compare-and-set.ts";
import type { NewId } from "../infra/ids.ts";
import type { Metrics } from "../infra/metrics.ts";
import type { Deliver, Outcome } from "./delivery.ts";
import { NOTHING, type WebhookRecord, type WebhookStore } from "./store.ts";

/**
 * From the begin of one nudge to that of the next, in milliseconds. One key may list 120 times an hour: at 30 s, a list that comes
 * a little sooner than the one before would be the 121st.
 */
const PACE_MS = 31_000;
/** Pauses before the retries, in milliseconds, without their jitter. */
const MINUTE_MS = 60_000;
const RETRIES_MS = [5_000, 5 * MINUTE_MS, HOUR_MS / 2, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS)];
/** A pause is longer by up to this part of it, so that what failed together is not tried together. */
const JITTER = 0.1;
/** Maximum pause that a receiver may ask for, in milliseconds. */
const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;
/** Maximum number of deliveries at once to receivers that answered quickly the last time, and as many to all others. */
const LANE = 25;
/** An answer that takes longer is slow, in milliseconds. */
const QUICK_MS = 2_000;

const LOOK_MS = 250;
/** Number of looks after which what is due by time is read too. */
const LOOKS_A_READ = 4;
/** Maximum time of one run, in milliseconds. Then any replica can go on. */
const RUN_MS = 300_000;
/** A process that has not renewed its checkpoint for so many rounds, of a second, may have died. */
const SILENT_ROUNDS = 4;

export interface NudgerOptions {
  readonly store: WebhookStore;
  readonly changed: ChangedAccounts;
  readonly checkpoints: Pick<Checkpoints, "silentFor">;
  readonly accounts: Pick<AccountStore, "activeOf">;
  readonly audit: Pick<AuditStore, "append">;
  readonly deliver: Deliver;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Pick<Logger, "debug" | "warn">;
  readonly metrics: Metrics;
  /** Pause between two looks at what has changed, in milliseconds. */
  readonly lookMs?: number;
}

export type Nudger = ReturnType<typeof nudger>;

/**
 * Tells accounts that their candidates have changed. The feed has the changes: a nudge says only that there is something to read.
 * So one nudge stands for any number of changes, and a lost process loses none: what it may not have noted is looked up.
 */
export function nudger(dependencies: NudgerOptions) {
  const {
    store,
    changed,
    checkpoints,
    accounts,
    audit,
    deliver,
    clock,
    newId,
    log,
    metrics,
    lookMs = LOOK_MS,
  } = dependencies;
  // Counters that exist from the start let an alert see the first of them.
  for (const outcome of ["sent", "failed"]) metrics.nudges.inc({ outcome }, 0);
  for (const reason of ["gone", "failing"]) metrics.webhooksDisabled.inc({ reason }, 0);
  /** Number of deliveries under way, to quick receivers and to others. */
  const busy = { quick: 0, other: 0 };
  const underWay = new Set<Promise<void>>();
  /** Number of deliveries that were begun. */
  let begun = 0;
  /** What may hide changes that nobody noted, and is being looked up or has been. */
  const lookedUp = new Set<string>();

  /** Takes the notes of changes. Returns whether there were any. */
  async function takeChanges(): Promise<boolean> {
    for (const { _id, round, complete_until } of checkpoints.silentFor(SILENT_ROUNDS))
      void lookUp(`${_id} ${round}`, complete_until);
    const notes = await changed.read();
    const merged = new Map<string, ChangedAccount>();
    for (const note of notes) {
      if (note.accounts === null) void lookUp(note._id, note.since, note);
      for (const each of note.accounts ?? []) {
        const known = merged.get(each.account) ?? each;
        const states = [...new Set([...known.states, ...each.states])];
        merged.set(each.account, { ...known, since: Math.min(known.since, each.since), states });
      }
    }
    if (merged.size === 0) return false;
    const webhooks = await store.of(...merged.keys());
    const told = webhooks.flatMap((webhook) => {
      const change = merged.get(webhook.account);
      const { states } = webhook;
      const isTold = change !== undefined && (states === null || change.states.some((state) => states.includes(state)));
      return isTold ? dirtied(webhook, change.since) : [];
    });
    // If another write came in between, the next look finds the same notes.
    if (await store.updateAll(told)) await changed.remove(notes.filter((note) => note.accounts !== null));
    return true;
  }

  /** Returns what a change makes of a webhook. Nothing if it is disabled, or has something to tell anyway. */
  function dirtied(webhook: WebhookRecord, since: number) {
    if (webhook.disabled !== null || webhook.since !== null) return [];
    return [{ webhook, changes: { since, due_at: webhook.due_at ?? pacedAfter(webhook) } }];
  }

  const pacedAfter = ({ sent_at }: WebhookRecord) => Math.max(clock.now(), Math.min(sent_at, clock.now()) + PACE_MS);

  /**
   * Looks in the feed for changes that no process noted: all webhooks of accounts that have changed since then get a nudge.
   * @param note what is removed afterwards, if another process has noted the death.
   */
  async function lookUp(name: string, since: number, note?: ChangeNote): Promise<void> {
    if (lookedUp.has(name)) return;
    lookedUp.add(name);
    try {
      for await (const account of store.accounts()) {
        let isTold = !(await store.hasChanged(account, since));
        while (!isTold)
          isTold = await store.updateAll((await store.of(account)).flatMap((each) => dirtied(each, since)));
      }
      if (note === undefined) return;
      await changed.remove([note]);
      lookedUp.delete(name); // the process may have been only slow, and may die later
    } catch (error) {
      lookedUp.delete(name);
      log.warn({ err: error }, "could not look for changes of a process that died");
    }
  }

  /** Begins the deliveries that are due, as many as may be under way. */
  async function sendDue(): Promise<void> {
    const now = clock.now();
    let lagMs = 0;
    for (const lane of ["quick", "other"] as const) {
      const free = LANE - busy[lane];
      const due = await store.due(now, lane === "quick", Math.max(free, 1));
      lagMs = Math.max(lagMs, now - (due[0]?.due_at ?? now));
      const active = await accounts.activeOf(due.map(({ account }) => account));
      for (const webhook of due.slice(0, free)) {
        // That of a suspended account waits: it is looked at again in a minute.
        if (!active.has(webhook.account)) await store.update(webhook, { due_at: now + MINUTE_MS });
        else track(lane, attempt(webhook));
      }
    }
    metrics.webhookLag.set(lagMs / 1000);
    metrics.sweepSuccess.set({ sweep: "nudges" }, Date.now() / 1000); // a run takes minutes, too long for an alert
  }

  function track(lane: keyof typeof busy, attempted: Promise<void>): void {
    busy[lane]++;
    begun++;
    const task = attempted
      .catch((error: unknown) => log.warn({ err: error }, "a nudge was not recorded"))
      .finally(() => {
        busy[lane]--;
        underWay.delete(task);
      });
    underWay.add(task);
  }

  /** Notes an attempt and makes it. If the process dies in between, the next attempt follows after PACE_MS. */
  async function attempt(webhook: WebhookRecord): Promise<void> {
    const now = clock.now();
    const message = webhook.message ?? newId("msg");
    const telling = webhook.telling ?? webhook.since ?? now;
    const claim = { message, telling, since: null, sent_at: now, due_at: now + PACE_MS };
    if (!(await store.update(webhook, claim))) return;
    const outcome = await deliver(webhook, { id: message, since: telling });
    metrics.nudges.inc({ outcome: outcome.isSent ? "sent" : "failed" });
    const { id, account } = webhook;
    log.debug({ account, webhook: id, message, status: outcome.status, error: outcome.error }, "nudge");
    await record({ ...webhook, ...claim }, outcome);
  }

  /** Records what became of an attempt, unless somebody has changed the webhook since: that begins anew. */
  async function record(claimed: WebhookRecord, outcome: Outcome): Promise<void> {
    const { account, id, message } = claimed;
    const { at, status, error, isSent, tookMs } = outcome;
    const ended = { last: { at, status, error }, quick: isSent && tookMs < QUICK_MS };
    let webhook: WebhookRecord | undefined = claimed;
    await compareAndSet("this webhook", async () => {
      webhook ??= (await store.of(account)).find((each) => each.id === id && each.message === message);
      if (webhook === undefined) return true;
      const changes: Partial<WebhookRecord> = isSent ? afterSuccess(webhook) : afterFailure(webhook, outcome);
      const written = await store.update(webhook, { ...ended, ...changes });
      if (written && changes.disabled) await noteDisabled({ ...webhook, ...ended, disabled: changes.disabled });
      webhook = undefined;
      return written || undefined;
    });
  }

  function afterSuccess(webhook: WebhookRecord) {
    return { ...NOTHING, since: webhook.since, due_at: webhook.since === null ? null : pacedAfter(webhook) };
  }

  function afterFailure(webhook: WebhookRecord, { status, retryAfterMs }: Outcome) {
    const pause = RETRIES_MS[webhook.tries];
    if (status !== 410 && pause !== undefined) {
      const jittered = pause * (1 + JITTER * Math.random());
      const due_at = Math.ceil(clock.now() + Math.max(jittered, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)));
      return { tries: webhook.tries + 1, due_at }; // the retry tells of later changes too
    }
    const now = timestamp(clock.now());
    const disabled = { at: now, reason: status === 410 ? ("gone" as const) : ("failing" as const) };
    return { ...NOTHING, since: webhook.telling, disabled, version: webhook.version + 1, updated_at: now };
  }

  async function noteDisabled({ account, id, last, disabled }: WebhookRecord): Promise<void> {
    const { reason } = disabled ?? { reason: "" };
    metrics.webhooksDisabled.inc({ reason });
    log.warn({ account, webhook: id, reason, last }, "webhook disabled");
    const of = { actor: "nudges", action: "webhooks disabled", account, subject: id, details: { reason } };
    await audit.append([{ _id: newId("audit"), ...of, ...DONE }]);
  }

  return {
    /** Sends nudges until the signal, or for RUN_MS. Returns the number of attempts. @throws problem store_unavailable */
    async run(signal: AbortSignal): Promise<number> {
      const end = performance.now() + RUN_MS;
      const before = begun;
      try {
        for (let look = 0; !signal.aborted && performance.now() < end; look++) {
          const hasChanges = await takeChanges();
          if (hasChanges || look % LOOKS_A_READ === 0) await sendDue();
          await wait(lookMs, undefined, { signal }).catch(() => undefined);
        }
      } finally {
        metrics.webhookLag.set(0);
      }
      return begun - before;
    },

    /** Waits until the attempts that `run` began are recorded, at most so many milliseconds. Never fails. */
    settled: (withinMs: number) =>
      Promise.race([Promise.allSettled(underWay), wait(withinMs, undefined, { ref: false })]),
  };
}
