import type { Logger } from "pino";
import { DONE } from "../audit/entry.ts";
import type { AuditStore } from "../audit/store.ts";
import { type Clock, HOUR_MS, timestamp } from "../infra/clock.ts";
import { compareAndSet } from "../infra/compare-and-set.ts";
import type { NewId } from "../infra/ids.ts";
import type { Metrics } from "../infra/metrics.ts";
import type { Deliver, Outcome } from "./delivery.ts";
import type { LastDelivery } from "./schema.ts";
import { NOTHING, type WebhookRecord, type WebhookStore } from "./store.ts";

/**
 * From the start of one nudge to that of the next, in milliseconds. One key may list 120 times an hour: at 30 s, a list that comes
 * a little sooner than the one before would be the 121st.
 */
const PACE_MS = 31_000;
const MINUTE_MS = 60_000;
/** Pauses before the retries, in milliseconds, without their jitter. */
const RETRIES_MS = [5_000, 5 * MINUTE_MS, HOUR_MS / 2, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS)];
/** A pause is longer by up to this part of it, so that what failed together is not tried together. */
const JITTER = 0.1;
/** Maximum pause that a receiver may ask for, in milliseconds. */
const MAX_RETRY_AFTER_MS = 24 * HOUR_MS;
/** An answer that takes longer is slow, in milliseconds. */
export const QUICK_MS = 2_000;

export interface AttemptOptions {
  readonly store: WebhookStore;
  readonly audit: Pick<AuditStore, "append">;
  readonly deliver: Deliver;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Pick<Logger, "warn">;
  readonly metrics: Metrics;
}

/** Returns when the next nudge may begin, by the pace. Not later than PACE_MS from now, also if the clock was set back. */
export function dueAfter({ sent_at }: WebhookRecord, now: number): number {
  return Math.max(now, Math.min(sent_at, now) + PACE_MS);
}

/** Returns what makes an attempt to send a nudge, and records what became of it. */
export function attempts({ store, audit, deliver, clock, newId, log, metrics }: AttemptOptions) {
  // Counters that exist from the start let an alert see the first of them.
  for (const reason of ["gone", "failing"]) metrics.webhooksDisabled.inc({ reason }, 0);

  /** Notes an attempt and makes it. If the process dies in between, the next attempt follows after PACE_MS. */
  async function attempt(webhook: WebhookRecord): Promise<void> {
    const now = clock.now();
    // A receiver that has handled a nudge, and whose answer was lost, passes its id by. So one that tells of more has another id.
    const isSame = webhook.since === null || webhook.attempt === "refused";
    const message = (isSame && webhook.message) || newId("msg");
    const telling = webhook.telling ?? webhook.since ?? now;
    const started = { message, telling, since: null, attempt: "under_way", sent_at: now } as const;
    const claim = { ...started, due_at: now + PACE_MS };
    if (!(await store.update(webhook, claim))) return;
    const outcome = await deliver(webhook, { id: message, since: telling });
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
      if (written && changes.disabled) await noteDisabled(claimed, ended.last, changes.disabled.reason);
      webhook = undefined;
      return written || undefined;
    });
  }

  function afterSuccess(webhook: WebhookRecord) {
    return { ...NOTHING, since: webhook.since, due_at: webhook.since === null ? null : dueAfter(webhook, clock.now()) };
  }

  function afterFailure(webhook: WebhookRecord, { status, retryAfterMs }: Outcome) {
    const pause = RETRIES_MS[webhook.tries];
    if (status !== 410 && pause !== undefined) {
      const jittered = pause * (1 + JITTER * Math.random());
      const due_at = Math.ceil(clock.now() + Math.max(jittered, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)));
      const attempt = status === null ? ("unanswered" as const) : ("refused" as const);
      return { attempt, tries: webhook.tries + 1, due_at };
    }
    const now = timestamp(clock.now());
    const disabled = { at: now, reason: status === 410 ? ("gone" as const) : ("failing" as const) };
    return { ...NOTHING, since: webhook.telling, disabled, version: webhook.version + 1, updated_at: now };
  }

  async function noteDisabled({ account, id }: WebhookRecord, last: LastDelivery, reason: string): Promise<void> {
    metrics.webhooksDisabled.inc({ reason });
    log.warn({ account, webhook: id, reason, last }, "webhook disabled");
    const of = { actor: "nudges", action: "webhooks disabled", account, subject: id, details: { reason } };
    await audit.append([{ _id: newId("audit"), ...of, ...DONE }]);
  }

  return attempt;
}
