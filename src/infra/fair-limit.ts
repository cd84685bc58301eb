import { append } from "./grouped.ts";

/** Limits how many tasks run at once. Keys take turns, and the tasks of one key start in order. */
export class FairLimit {
  #free: number;
  /** By key, in the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(limit: number) {
    this.#free = limit;
  }

  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => append(this.#waiting, key, resolve));
    try {
      return await task();
    } finally {
      this.#passOn();
    }
  }

  #passOn(): void {
    const [first] = this.#waiting;
    if (first === undefined) {
      this.#free++;
      return;
    }
    const [key, [start, ...rest]] = first;
    this.#waiting.delete(key);
    if (rest.length > 0) this.#waiting.set(key, rest); // after the others
    start?.();
  }
}
