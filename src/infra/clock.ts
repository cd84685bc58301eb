import type { RedisClient } from "./redis.ts";
import { clockTime } from "./redis-nodes.ts";

/** The service's clock, in milliseconds since the epoch. compose.ts creates it, so that tests can replace it. */
export interface Clock {
  now(): number;
}

/**
 * Answers slower than this do not set the clock, in milliseconds. Such an answer may be out of date by as much as it
 * took, and replicas' clocks must agree to within 2 s.
 */
export const PROMPT_MS = 1_000;

/**
 * A clock that follows Redis's. Every answer of the limiter carries Redis's time; between answers, the process's
 * monotonic timer counts on from it. So replicas agree to within a round trip, even if their wall clocks are wrong.
 * Before the first answer, the clock is the machine's wall clock. Only the first answer may set it back; after that it
 * never runs backwards. In a cluster it follows one master only: that of slot 0.
 */
export class SharedClock implements Clock {
  #offset = Date.now() - performance.now();
  #last = 0;
  #following = false;

  /**
   * Sets the clock.
   * @param epochMs the time on Redis's clock, in whole milliseconds.
   * @param at when Redis's clock showed that time, by `performance.now()`.
   */
  follow(epochMs: number, at = performance.now()): void {
    // Times before the first answer came from the wall clock. It may be ahead, so allow the first answer to go back.
    if (!this.#following) this.#last = 0;
    this.#following = true;
    this.#offset = epochMs - at;
  }

  now(): number {
    this.#last = Math.max(this.#last, Math.floor(performance.now() + this.#offset));
    return this.#last;
  }
}

/** Formats a time like every timestamp in the API: RFC 3339 in UTC, with milliseconds and `Z`. */
export function timestamp(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/**
 * Sets a clock to Redis's, for times that Redis compares with its own clock. One round trip.
 * @param withinMs a slower answer is ignored, in milliseconds.
 */
export async function followRedis(clock: SharedClock, redis: RedisClient, withinMs = Infinity): Promise<void> {
  const asked = performance.now();
  const [seconds, microseconds] = await clockTime(redis);
  if (performance.now() - asked >= withinMs) return;
  clock.follow(Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000));
}
