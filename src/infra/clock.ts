/** Time as the whole service sees it, in milliseconds since the epoch. Made in compose.ts, so tests can own it. */
export interface Clock {
  now(): number;
}

/**
 * A clock that follows Redis's: every limiter answer carries Redis's time, and between answers the process's monotonic
 * timer runs on from it. Replicas so agree to within a round trip, whatever their own wall clocks say; before the first
 * answer it is the replica's wall clock. It never runs backwards within a process.
 */
export class SharedClock implements Clock {
  #offset = Date.now() - performance.now();
  #last = 0;
  #following = false;

  /**
   * Takes over the time that another clock shows.
   * @param epochMs whole milliseconds.
   * @param at when it showed it, by `performance.now()`.
   */
  follow(epochMs: number, at = performance.now()): void {
    // What was said before the first answer was this machine's own time, and binds nobody.
    if (!this.#following) this.#last = 0;
    this.#following = true;
    this.#offset = epochMs - at;
  }

  now(): number {
    this.#last = Math.max(this.#last, Math.floor(performance.now() + this.#offset));
    return this.#last;
  }
}

/** RFC 3339 in UTC with milliseconds and `Z`, the form of every timestamp in the API. */
export function timestamp(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

/** Sets a clock right by Redis's: what is exact by Redis's clock has to be given its times by it. One round trip. */
export async function followRedis(clock: SharedClock, redis: { time(): Promise<(string | number)[]> }): Promise<void> {
  const [seconds, microseconds] = await redis.time();
  clock.follow(Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000));
}
