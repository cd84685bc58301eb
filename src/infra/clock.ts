import type { RedisClient } from "./redis.ts";
import { clockTime } from "./redis-connections.ts";

/** The service's clock, in milliseconds since the epoch. compose.ts creates it, so that tests can replace it. */
export interface Clock {
  now(): number;
}

/** Slower replies do not set the clock, in milliseconds: replicas' clocks must agree to within 2 s. */
export const PROMPT_MS = 1_000;

/** Maximum difference from the service's clock at which another clock counts as right, in milliseconds. */
export const MAX_STEP_MS = 2_000;

/**
 * A clock that follows Redis's. Every reply to the limiter carries Redis's time; between replies, the process's
 * monotonic timer counts on from it. So replicas agree to within a round trip, even if their wall clocks are wrong.
 * Before the first reply, the clock is the machine's wall clock. In a cluster it follows one master only: that of slot 0.
 *
 * A step of more than MAX_STEP_MS is not followed: `set` decides then (see clock-watch.ts). Only `set` and the first reply
 * may set the clock back by more than that. Otherwise it stands still until the time that it has shown comes.
 *
 * An offset is a clock's time minus `performance.now()` at the same moment, in milliseconds.
 */
export class SharedClock implements Clock {
  #offset = Date.now() - performance.now();
  #last = 0;
  #following = false;
  #redisOffset: number | undefined;
  /** Called when Redis's clock was not followed, because it has stepped. */
  onStep: () => void = () => undefined;

  /** Follows Redis's clock, unless it has stepped. */
  follow(offset: number): void {
    this.saw(offset);
    const isNear = Math.abs(offset - this.#offset) <= MAX_STEP_MS;
    if (isNear || !this.#following) this.set(offset);
    else this.onStep();
  }

  /** Notes Redis's clock without following it. */
  saw(offset: number): void {
    this.#redisOffset = offset;
  }

  /** Sets the clock. Returns the step that it makes, in milliseconds; the first time 0. */
  set(offset: number): number {
    const step = this.#following ? offset - this.#offset : 0;
    // Times before the first reply came from the wall clock. It may be ahead, so allow the first reply to go back.
    if (!this.#following || step < -MAX_STEP_MS) this.#last = 0;
    this.#following = true;
    this.#offset = offset;
    return step;
  }

  /** Redis's own clock, right or wrong, for times that Redis compares with it. Before the first reply, the wall clock. */
  readonly redis: Clock = { now: () => Math.floor(performance.now() + (this.#redisOffset ?? this.#offset)) };

  now(): number {
    this.#last = Math.max(this.#last, Math.floor(performance.now() + this.#offset));
    return this.#last;
  }
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Formats a time like every timestamp in the API: RFC 3339 in UTC, with milliseconds and `Z`. */
export function timestamp(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** Parses a timestamp (RFC 3339). Returns milliseconds since the epoch. */
export function epochOf(text: string): number {
  // Date cannot parse a leap second (RFC 3339, 5.7), so use the last millisecond of the second before.
  return Date.parse(text.replace(/:60(\.\d+)?(?=[Zz+-])/, ":59.999"));
}

/** Sets a clock to Redis's, for times that Redis compares with its own clock. Ignores a reply slower than `withinMs`. */
export async function followRedis(clock: SharedClock, redis: RedisClient, withinMs = Infinity): Promise<void> {
  const asked = performance.now();
  const epochMs = await clockTime(redis);
  if (performance.now() - asked < withinMs) clock.follow(epochMs - performance.now());
}
