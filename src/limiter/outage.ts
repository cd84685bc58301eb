import { TimeLimit } from "../infra/time-limit.ts";
import { type Problem, problem } from "../problems.ts";

/** Returns the problem of every operation that needs Redis while Redis does not answer. */
export function limiterUnavailable(cause: unknown): Problem {
  return problem("limiter_unavailable", "The rate limits cannot be checked right now. Please try again shortly.", {
    headers: { "Retry-After": "1" },
    cause,
  });
}

/**
 * Returns Redis's answer.
 * @param timeoutMs maximum wait, in milliseconds, without the time in which this process stood still. The operation may
 * still happen afterwards.
 * @throws problem `limiter_unavailable` if the operation fails or takes longer than `timeoutMs`.
 */
export function answerOf<T>(operation: (limit: TimeLimit) => Promise<T>, timeoutMs: number): Promise<T> {
  // One promise, because every charge waits here: Promise.race would make three.
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(limiterUnavailable(error));
    const limit = new TimeLimit(timeoutMs, () => fail(new Error(`Redis did not answer within ${timeoutMs} ms`)));
    operation(limit).then(
      (answer) => {
        limit.clear();
        resolve(answer);
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

  answered(): void {
    this.#failures = 0;
  }

  /** Redis did not decide a charge in time. @returns true if this is an outage: three in a row, over at least a second. */
  failed(): boolean {
    const now = performance.now();
    if (now - this.#last > OUTAGE_GAP_MS) this.#failures = 0;
    this.#last = now;
    if (this.#failures++ === 0) this.#since = now;
    return this.#failures >= OUTAGE_FAILURES && now - this.#since >= OUTAGE_MS;
  }
}
