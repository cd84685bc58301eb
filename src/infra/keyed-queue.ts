/** Queues by key. Work for one key runs one after the other, in the order it came; work for different keys runs side by side. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<void>>();
  readonly #failsAll: (error: unknown) => boolean;

  /** @param failsAll returns true for errors that would fail every queued task too. The queue is then rejected with that error. */
  constructor(failsAll: (error: unknown) => boolean) {
    this.#failsAll = failsAll;
  }

  /** Runs the work once all earlier work for that key has ended, whether it succeeded or failed. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(work);
    const settled = mine.then(
      () => undefined,
      (error: unknown) => {
        if (this.#failsAll(error)) throw error;
      },
    );
    this.#last.set(key, settled);
    await settled.catch(() => undefined);
    if (this.#last.get(key) === settled) this.#last.delete(key);
    return mine;
  }
}
