import { setTimeout as wait } from "node:timers/promises";

/** Writes once in a period what it has collected, one write at a time. */
export abstract class PeriodicWrite {
  readonly #periodMs: number;
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(periodMs: number) {
    this.#periodMs = periodMs;
  }

  /** Writes all that is collected. Must not fail. */
  protected abstract write(): Promise<void>;

  /** Starts the writes. The first one comes after a random part of the period, so that replicas do not all write at once. */
  start(): void {
    const first = () => {
      this.#timer = setInterval(() => void this.#writeNow(), this.#periodMs).unref();
      void this.#writeNow();
    };
    this.#timer = setTimeout(first, this.#periodMs * Math.random()).unref();
  }

  /** Stops the writes. Writes once more, and waits for it at most `withinMs` milliseconds. Never fails. */
  async stop(withinMs: number): Promise<void> {
    clearTimeout(this.#timer);
    const written = Promise.resolve(this.#writing).then(() => this.#writeNow());
    await Promise.race([written, wait(withinMs, undefined, { ref: false })]);
  }

  /** Writes now. If a write is running, only waits for that one. */
  #writeNow(): Promise<void> {
    return (this.#writing ??= this.write().finally(() => (this.#writing = undefined)));
  }
}
