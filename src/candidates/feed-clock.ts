import type { Clock } from "../infra/clock.ts";
import { type Place, take } from "./open-writes.ts";

/** Pace while the clock is behind, as a fraction of real time. Times stay distinct, and the clock catches up. */
const SLOW_PACE = 0.5;

/** A place in the feed, and the time at which it was taken, in milliseconds since the epoch. */
export interface TimedPlace extends Place {
  /** By the service's clock. It is before `at` if that clock has stepped back. */
  readonly now: number;
}

/**
 * The clock that places in the feed are taken from. It never runs backwards, even if the service's clock does: then it
 * goes on at half the pace until the service's clock has caught up. Watermarks keep it at or after every place that any
 * process has given to a reader.
 */
export class FeedClock {
  readonly #clock: Clock;
  #last = 0;
  #readAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the time, in whole milliseconds since the epoch. */
  now(): number {
    const readAt = performance.now();
    const slowed = this.#last + (readAt - this.#readAt) * SLOW_PACE;
    const time = this.#clock.now();
    this.#last = time < this.#last ? slowed : time;
    this.#readAt = readAt;
    return Math.floor(this.#last);
  }

  /** Moves the clock forward to this time. An earlier time changes nothing. */
  raise(epochMs: number): void {
    if (epochMs > this.now()) this.#last = epochMs;
  }

  /** Takes a place in the feed, after this time. */
  take(after = 0): TimedPlace {
    const place = take(() => Math.max(this.now(), after + 1));
    return { ...place, now: Math.min(place.at, this.#clock.now()) };
  }
}
