import { setTimeout as wait } from "node:timers/promises";
import type { AccountStore } from "../accounts/store.ts";
import type { ChangedAccount, ChangedAccounts, ChangeNote } from "../candidates/changed-accounts-store.ts";
import type { Checkpoints } from "../candidates/checkpoints.ts";
import { HOUR_MS } from "../infra/clock.ts";
import { type AttemptOptions, attempts, dueAfter, QUICK_MS } from "./attempts.ts";
import { waitsForRetry, type WebhookRecord } from "./store.ts";

/** Maximum number of deliveries at once to receivers that answered quickly the last time, and as many to all others. */
const LANE = 25;

/** Maximum number of due webhooks that one look reads for each lane. */
const READ_AT_ONCE = 200;
/** Pause before a suspended account is looked at again, in milliseconds. */
const SUSPENDED_MS = 60_000;
/** Pause between two looks at what has changed, in milliseconds. */
const LOOK_MS = 250;
/** Number of looks after which what is due by time is read too. */
const LOOKS_A_READ = 4;
/** Maximum time of one run, in milliseconds. Then any replica can go on. */
const RUN_MS = HOUR_MS;
/** A process that has not renewed its checkpoint for so many rounds, of a second, may have died. */
const SILENT_ROUNDS = 4;

export interface NudgerOptions extends AttemptOptions {
  readonly changed: ChangedAccounts;
  readonly checkpoints: Pick<Checkpoints, "silentFor">;
  readonly accounts: Pick<AccountStore, "activeOf">;
  /** Default: LOOK_MS. */
  readonly lookMs?: number;
}

export type Nudger = ReturnType<typeof nudger>;

/**
 * Tells accounts that their candidates have changed. The feed has the changes: a nudge says only that there is something to read.
 * So one nudge stands for any number of changes, and a lost process loses none: what it may not have noted is looked up.
 */
export function nudger(dependencies: NudgerOptions) {
  const { store, changed, checkpoints, accounts, clock, log, metrics, lookMs = LOOK_MS } = dependencies;
  const attempt = attempts(dependencies);
  /** Number of deliveries under way, to quick receivers and to others. */
  const busy = { quick: 0, other: 0 };
  const underWay = new Set<Promise<void>>();
  /** Number of deliveries that were begun. */
  let begun = 0;
  /** Names of processes that fell silent, and whose changes are being looked up or have been. */
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
        const states = [...new Set([known.states, each.states].flat())];
        merged.set(each.account, { ...known, since: Math.min(known.since, each.since), states });
      }
    }
    if (merged.size === 0) return false;
    const webhooks = await store.of(...merged.keys());
    const told = webhooks.flatMap((webhook) => {
      const change = merged.get(webhook.account);
      const { states } = webhook;
      const isTold = states?.some((state) => change?.states.includes(state)) ?? true;
      return change !== undefined && isTold ? dirtied(webhook, change.since) : [];
    });
    // If another write came in between, the next look finds the same notes.
    if (await store.updateAll(told)) await changed.remove(notes.filter((note) => note.accounts !== null));
    return true;
  }

  /** Returns what a change makes of a webhook. Nothing if it is disabled, or has something to tell in time anyway. */
  function dirtied(webhook: WebhookRecord, since: number) {
    if (webhook.disabled !== null) return [];
    const paced = dueAfter(webhook, clock.now());
    // If the clock was set back, what is due by the pace would be due too late.
    const due_at = waitsForRetry(webhook) ? webhook.due_at : Math.min(webhook.due_at ?? paced, paced);
    const isKnown = webhook.since !== null && webhook.due_at === due_at;
    return isKnown ? [] : [{ webhook, changes: { since: webhook.since ?? since, due_at } }];
  }

  /**
   * Looks in the feed for changes that no process noted. All webhooks of accounts that have changed since then get a nudge.
   * @param note of the process's death. It is removed afterwards.
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

  /** Begins the deliveries that are due, as many as may be under way. Returns whether there may be more. */
  async function sendDue(): Promise<boolean> {
    const now = clock.now();
    let [lagMs, hasMore] = [0, false];
    for (const lane of ["quick", "other"] as const) {
      const free = LANE - busy[lane];
      const due = await store.due(now, lane === "quick", READ_AT_ONCE);
      lagMs = Math.max(lagMs, now - (due[0]?.due_at ?? now));
      hasMore ||= free > 0 && due.length >= free;
      const active = await accounts.activeOf(due.map(({ account }) => account));
      const resting = due.filter(({ account }) => !active.has(account));
      await store.updateAll(resting.map((webhook) => ({ webhook, changes: { due_at: now + SUSPENDED_MS } })));
      const ready = due.filter(({ account }) => active.has(account));
      for (const webhook of ready.slice(0, free)) track(lane, attempt(webhook));
    }
    metrics.webhookLag.set(lagMs / 1000);
    metrics.sweepSuccess.set({ sweep: "nudges" }, Date.now() / 1000); // a run takes an hour, too long for an alert
    return hasMore;
  }

  function track(lane: keyof typeof busy, attempted: Promise<void>): void {
    let place = lane;
    busy[place]++;
    begun++;
    // A delivery that turns out to be slow moves to the other lane, if there is room.
    const slow = setTimeout(() => {
      if (place === "other" || busy.other >= LANE) return;
      busy[place]--;
      busy[(place = "other")]++;
    }, QUICK_MS);
    const task = attempted
      .catch((error: unknown) => log.warn({ err: error }, "a nudge was not recorded"))
      .finally(() => {
        clearTimeout(slow);
        busy[place]--;
        underWay.delete(task);
      });
    underWay.add(task);
  }

  return {
    /** Sends nudges until the signal, or for RUN_MS. Returns the number of attempts. @throws problem store_unavailable */
    async run(signal: AbortSignal): Promise<number> {
      const end = performance.now() + RUN_MS;
      const before = begun;
      try {
        for (let look = 0, hasMore = false; !signal.aborted && performance.now() < end; look++) {
          const hasChanges = await takeChanges();
          if (hasChanges || hasMore || look % LOOKS_A_READ === 0) hasMore = await sendDue();
          await wait(hasMore ? lookMs / 10 : lookMs, undefined, { signal }).catch(() => undefined);
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
