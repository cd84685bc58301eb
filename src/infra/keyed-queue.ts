/** Queues by name: work of one name runs one after the other, in the order it came; of different names, side by side. */
export class Lines {
  readonly #last = new Map<string, Promise<void>>();
  readonly #dissolves: (error: unknown) => boolean;

  /** @param dissolves whether an error concerns all who stand in line: none of them is then tried, each is given that error. */
  constructor(dissolves: (error: unknown) => boolean) {
    this.#dissolves = dissolves;
  }

  /** Runs the work when all earlier work of that name has ended, however it ended, unless the line dissolves before. */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name) ?? Promise.resolve();
    const mine = before.then(work);
    const settled = mine.then(
      () => undefined,
      (error: unknown) => {
        if (this.#dissolves(error)) throw error;
      },
    );
    this.#last.set(name, settled);
    await settled.catch(() => undefined);
    if (this.#last.get(name) === settled) this.#last.delete(name);
    return mine;
  }
}
