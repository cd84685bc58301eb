import { setTimeout } from "node:timers/promises";

/** At most one read of a key begins in `everyMs`; callers in between share the next. None gets a read that began before. */
export class PacedReads<T> {
  readonly #everyMs: number;
  /** For keys read in the last `everyMs`: resolves when the next read may begin. */
  readonly #pauses = new Map<string, Promise<void>>();
  /** The reads that have not begun. */
  readonly #next = new Map<string, Promise<T>>();

  /** @param everyMs also the maximum wait until a read begins. */
  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** Returns what `run` reads, or another caller's `run` for the same key. */
  read(key: string, run: () => Promise<T>): Promise<T> {
    const next = this.#next.get(key);
    if (next !== undefined) return next;
    const pause = this.#pauses.get(key);
    if (pause === undefined) return this.#begin(key, run);
    const read = pause.then(() => {
      this.#next.delete(key);
      return this.#begin(key, run);
    });
    this.#next.set(key, read);
    return read;
  }

  #begin(key: string, run: () => Promise<T>): Promise<T> {
    const pause = setTimeout(this.#everyMs).then(() => {
      if (!this.#next.has(key)) this.#pauses.delete(key);
    });
    this.#pauses.set(key, pause);
    return run();
  }
}
