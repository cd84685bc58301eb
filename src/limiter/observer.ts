import type { Metrics } from "../infra/metrics.ts";
import { TimeLimit } from "../infra/time-limit.ts";
import { type Problem, problem } from "../problems.ts";
import type { Decision, Verdict } from "./decision.ts";
import type { Surface } from "./surfaces.ts";

/** The label `scope` of each verdict. */
const SCOPES: Record<Verdict, "account" | "key" | "grant" | ""> = {
  admitted: "",
  granted: "grant",
  account_exhausted: "account",
  key_exhausted: "key",
  outdated: "key",
  replaced: "key",
};

export type Observer = ReturnType<typeof observer>;

/** Counts and times the limiter's decisions. Times are those of `performance.now()`. */
export function observer(metrics: Metrics) {
  let isOutage = false;
  return {
    decided({ surface, verdict }: Decision, started: number): void {
      isOutage = false;
      metrics.decisionDuration.observe((performance.now() - started) / 1000);
      metrics.decisions.inc({ surface, verdict, scope: SCOPES[verdict] });
    },

    /** Redis did not decide in time. The first such request after a decided one begins an outage. */
    failed(surface: Surface, started: number): void {
      if (!isOutage) metrics.limiterOutages.inc();
      isOutage = true;
      metrics.decisionDuration.observe((performance.now() - started) / 1000);
      metrics.decisions.inc({ surface, verdict: "unavailable", scope: "" });
    },

    repeated({ surface, verdict }: Decision): void {
      const scope = SCOPES[verdict];
      metrics.repeatedRefusals.inc({ surface, scope });
      metrics.decisions.inc({ surface, verdict, scope });
    },
  };
}

/** Returns the problem of every operation that needs Redis while Redis does not respond. */
export function limiterUnavailable(cause: unknown): Problem {
  return problem("limiter_unavailable", "The rate limits cannot be checked right now. Please try again shortly.", {
    headers: { "Retry-After": "1" },
    cause,
  });
}

/** Returns Redis's reply. @throws problem `limiter_unavailable` if the command fails. */
export async function replyTo<T>(command: Promise<T>): Promise<T> {
  try {
    return await command;
  } catch (error) {
    throw limiterUnavailable(error);
  }
}

/**
 * Returns Redis's reply.
 * @param timeoutMs maximum wait, in milliseconds, without the time in which this process stood still. The operation may
 * still happen afterwards.
 * @throws problem `limiter_unavailable` if the operation fails or takes longer than `timeoutMs`.
 */
export function replyWithin<T>(timeoutMs: number, operation: (limit: TimeLimit) => Promise<T>): Promise<T> {
  // One promise, because every charge waits here: Promise.race would make three.
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(limiterUnavailable(error));
    const limit = new TimeLimit(timeoutMs, () => fail(new Error(`Redis did not answer within ${timeoutMs} ms`)));
    operation(limit).then(
      (reply) => {
        limit.clear();
        resolve(reply);
      },
      (error: unknown) => {
        limit.clear();
        fail(error);
      },
    );
  });
}

/** Number of charges that must fail in a row, and over how many milliseconds, to be an outage of Redis. */
const OUTAGE_FAILURES = 3;
const OUTAGE_MS = 1_000;
/** Failures that lie further apart than this, in milliseconds, are not in a row. */
const OUTAGE_GAP_MS = 60_000;

/**
 * Tells an outage of a Redis server from a slow call or a connection that is restored at once. Any decision of that
 * server ends the outage.
 */
export class OutageDetector {
  #failures = 0;
  #since = 0;
  #last = 0;

  succeeded(): void {
    this.#failures = 0;
  }

  /** Redis did not decide a charge in time. Returns whether this is an outage. */
  failed(): boolean {
    const now = performance.now();
    if (now - this.#last > OUTAGE_GAP_MS) this.#failures = 0;
    this.#last = now;
    if (this.#failures++ === 0) this.#since = now;
    return this.#failures >= OUTAGE_FAILURES && now - this.#since >= OUTAGE_MS;
  }
}
