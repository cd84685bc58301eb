import { setTimeout as wait } from "node:timers/promises";

/** Runs a write once in a period, one at a time. The write must not fail. */
export class PeriodicWrite {
  readonly #periodMs: number;
  readonly #write: () => Promise<void>;
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(periodMs: number, write: () => Promise<void>) {
    this.#periodMs = periodMs;
    this.#write = write;
  }

  /** Starts the writes. The first one comes after a random part of the period, so that replicas do not all write at once. */
  start(): void {
    const first = () => {
      this.#timer = setInterval(() => void this.now(), this.#periodMs).unref();
      void this.now();
    };
    this.#timer = setTimeout(first, this.#periodMs * Math.random()).unref();
  }

  /** Stops the writes. Writes once more, and waits for it at most `withinMs` milliseconds. */
  async stop(withinMs: number): Promise<void> {
    clearTimeout(this.#timer);
    const written = Promise.resolve(this.#writing).then(() => this.now());
    await Promise.race([written, wait(withinMs, undefined, { ref: false })]);
  }

  /** Writes now. If a write is running, only waits for that one. */
  now(): Promise<void> {
    return (this.#writing ??= this.#write().finally(() => (this.#writing = undefined)));
  }
}
