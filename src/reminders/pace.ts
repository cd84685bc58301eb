import { setTimeout as wait } from "node:timers/promises";

/** Spreads the messages of a pass evenly over a minute. The first one waits too: another replica may have sent one just now. */
export class Pace {
  readonly #gapMs: number;
  /** When the latest message went or will go, by `performance.now()`. */
  #latest = performance.now();

  /** @param perMinute messages a minute. */
  constructor(perMinute: number) {
    this.#gapMs = 60_000 / perMinute;
  }

  /** Waits for the next turn. Returns false if the signal was aborted first. */
  async turn(signal: AbortSignal): Promise<boolean> {
    const now = performance.now();
    this.#latest = Math.max(now, this.#latest + this.#gapMs);
    if (this.#latest === now) return !signal.aborted;
    // Node drops the fraction of a millisecond, and the message would go too early.
    return wait(Math.ceil(this.#latest - now), true, { signal }).catch(() => false);
  }
}
