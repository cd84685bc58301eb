import type { Clock } from "../infra/clock.ts";

/** Pace while the clock is behind, as a fraction of real time. Times stay distinct, and the clock catches up. */
const SLOW_PACE = 0.5;

/** A feed position that a write has reserved. */
export interface Reservation {
  /** The time that the position names, in milliseconds since the epoch. */
  readonly at: number;
  /** The time of the reservation, by `performance.now()`. */
  readonly reservedAt: number;
  /** The time of the reservation, by the service's clock. It is before `at` if that clock has stepped back. */
  readonly now: number;
}

/**
 * The clock of feed positions. It never runs backwards, even if the service's clock does: then it goes on at half the pace
 * until the service's clock has caught up. Checkpoints keep it at or after every position that a reader has passed.
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

  /** Reserves a position after this time. Reads the timer before the clock: a pause in between makes the write late. */
  reserve(after = 0): Reservation {
    const reservedAt = performance.now();
    const at = Math.max(this.now(), after + 1);
    return { at, reservedAt, now: Math.min(at, this.#clock.now()) };
  }
}

/** Returns the feed position before every change made in the millisecond `epochMs`. */
export function feedPosition(epochMs: number): string {
  return String(Math.max(epochMs, 0)).padStart(15, "0");
}

/** Returns the feed position (`change`) of a candidate that is written at that time, in milliseconds since the epoch. */
export function positionOf(at: number, id: string): string {
  return `${feedPosition(at)}.${id}`;
}
