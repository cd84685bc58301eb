/** A queue per key. Tasks with the same key run one after the other, in order; tasks with different keys run concurrently. */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<void>>();
  readonly #failsAll: (error: unknown) => boolean;

  /** @param failsAll returns whether an error would fail every queued task too. The queue is then rejected with that error. */
  constructor(failsAll: (error: unknown) => boolean) {
    this.#failsAll = failsAll;
  }

  /** Runs a task after all earlier tasks with the same key have ended, whether they succeeded or failed. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const previous = this.#last.get(key) ?? Promise.resolve();
    const result = previous.then(task);
    const settled = result.then(
      () => undefined,
      (error: unknown) => {
        if (this.#failsAll(error)) throw error;
      },
    );
    this.#last.set(key, settled);
    await settled.catch(() => undefined);
    if (this.#last.get(key) === settled) this.#last.delete(key);
    return result;
  }
}
