import { newTypeId } from "../../src/infra/ids.ts";
import { Metrics } from "../../src/infra/metrics.ts";
import type { Mongo } from "../../src/infra/mongo.ts";
import { ChangedAccounts } from "../../src/candidates/changed-accounts-store.ts";
import { delivery } from "../../src/webhooks/delivery.ts";
import { nudger } from "../../src/webhooks/nudger.ts";
import { receiverRules } from "../../src/webhooks/receivers.ts";
import { type WebhookRecord, WebhookStore } from "../../src/webhooks/store.ts";
import { candidateRecord } from "../support/records.ts";
import { webhookRecord } from "./records.ts";

/**
 * What sends nudges, on a clock that each look moves on: by a moment while a nudge is under way, else to what is due next. Its
 * receivers, and the store, are real.
 */
export interface Simulated {
  readonly store: WebhookStore;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Sets the clock forward or, if negative, back. */
  step(ms: number): void;
  /** Accounts that are suspended. */
  readonly suspended: Set<string>;
  /** Entries that were appended to the audit. */
  readonly audited: readonly { action: string; subject: string; details: object }[];
  /** Adds a webhook of a new account. @returns the account. */
  webhook(url: string): Promise<string>;
  /** The webhook of an account. */
  stored(account: string): Promise<WebhookRecord>;
  /** Notes changes of an account, as a process does that has written candidates. Default: one. */
  change(account: string, count?: number): Promise<void>;
  /** Looks, until this returns true or so much time has passed on its clock. @param each is called before each look. */
  until(ends: () => boolean | Promise<boolean>, maximumMs: number, each?: () => Promise<void>): Promise<void>;
}

/** @param maxStepMs by how much a look moves the clock on at most. */
export function simulated(mongo: Mongo, maxStepMs: number): Simulated {
  let next = 0;
  let underWay = 0;
  let time = Date.now();
  const clock = { now: () => time };
  class Counting extends WebhookStore {
    override async update(...[webhook, changes]: Parameters<WebhookStore["update"]>): Promise<boolean> {
      const [isBegin, isEnd] = [changes.sent_at !== undefined, changes.last !== undefined];
      if (isBegin) underWay++;
      const isWritten = await super.update(webhook, changes);
      if (isWritten ? isEnd : isBegin) underWay--;
      return isWritten;
    }
  }
  const [store, changed] = [new Counting(mongo), new ChangedAccounts(mongo)];
  const audited: { action: string; subject: string; details: object }[] = [];
  const suspended = new Set<string>();
  const receivers = receiverRules({ isProduction: false, allowed: [] });
  const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
  const metrics = new Metrics();
  const deliver = delivery({ receivers, proxy: null, clock, log, metrics });
  const nextDue = async () => {
    const isIdle = underWay === 0;
    const due = await Promise.all([true, false].map((quick) => store.due(Infinity, quick, 1)));
    if (!isIdle || underWay > 0) return time; // a claim is due again later, if its process dies
    return Math.min(Infinity, ...due.flat().map(({ due_at }) => due_at ?? 0));
  };
  let beforeLook = (): void => undefined;
  const nudges = nudger({
    store,
    changed,
    checkpoints: { silentFor: () => (beforeLook(), []) },
    accounts: { activeOf: (ids) => Promise.resolve(new Set(ids.filter((id) => !suspended.has(id)))) },
    audit: { append: (entries) => Promise.resolve(void audited.push(...entries)) },
    deliver,
    clock,
    newId: newTypeId,
    log,
    metrics,
    lookMs: 1,
  });
  return {
    store,
    audited,
    now: clock.now,
    suspended,
    step: (ms) => void (time += ms),
    async webhook(url) {
      const account = newTypeId("acct");
      await store.insert(webhookRecord({ account, url }));
      return account;
    },
    stored: async (account) => (await store.of(account))[0]!,
    async change(account, count = 1) {
      const change = { before: undefined, after: candidateRecord({ accountId: account }) };
      for (let n = 0; n < count; n++) changed.note([change], time);
      await changed.write();
    },
    async until(ends, maximumMs, each = () => Promise.resolve()) {
      const end = time + maximumMs;
      const stop = new AbortController();
      let busy = false;
      beforeLook = () => {
        if (busy) return;
        busy = true;
        const wasUnderWay = underWay > 0; // what is due next then is what follows if the process dies
        time += wasUnderWay ? 10 : Math.min(Math.max(next - time, 250), maxStepMs);
        void Promise.all([each(), ends(), nextDue()]).then(([, isOver, due]) => {
          busy = false;
          next = wasUnderWay ? 0 : due;
          if (isOver || time >= end) stop.abort();
        });
      };
      await nudges.run(stop.signal);
      await nudges.settled(20_000);
    },
  };
}
