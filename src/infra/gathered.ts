interface Options {
  /** From the beginning of one call to that of the next, in milliseconds. */
  readonly gapMs: number;
  /** Maximum number of items in a call. */
  readonly most?: number;
  /** Whether a call that fails fails all items that wait, because the next one would fail too. */
  readonly failTogether?: true;
}

/** Handles the items that come within a short time in one call, one call at a time. An item that comes alone does not wait. */
export class Gathered<Item> {
  readonly #handle: (items: readonly Item[]) => Promise<void>;
  readonly #options: Options;
  /** Items of calls that have not begun. */
  readonly #waiting: { item: Item; resolve: () => void; reject: (reason: unknown) => void }[] = [];
  #size = 0;
  #isRunning = false;
  #begin: () => void = () => undefined;
  /** Time when the next call may begin, by `performance.now()`. */
  #nextAt = 0;

  constructor(handle: (items: readonly Item[]) => Promise<void>, options: Options) {
    this.#handle = handle;
    this.#options = options;
  }

  /** Number of items that are not handled yet. */
  get size(): number {
    return this.#size;
  }

  /** Resolves once the call that handles the item has ended. Throws what that call throws. */
  add(item: Item): Promise<void> {
    this.#size++;
    const handled = new Promise<void>((resolve, reject) => this.#waiting.push({ item, resolve, reject }));
    if (!this.#isRunning) void this.#run();
    return handled.finally(() => this.#size--);
  }

  /** Begins the next call now, or as soon as the present one ends. */
  flush(): void {
    this.#nextAt = 0;
    this.#begin();
  }

  async #run(): Promise<void> {
    const { gapMs, most = Infinity, failTogether = false } = this.#options;
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      await new Promise<void>((resolve) => {
        const waitMs = Math.max(0, this.#nextAt - performance.now());
        const timer = setTimeout(resolve, Math.ceil(waitMs)); // Node drops the fraction of a millisecond
        this.#begin = () => (clearTimeout(timer), resolve());
      });
      this.#nextAt = performance.now() + gapMs;
      const called = this.#waiting.splice(0, most);
      await this.#handle(called.map(({ item }) => item)).then(
        () => called.forEach(({ resolve }) => resolve()),
        (error: unknown) =>
          [...called, ...(failTogether ? this.#waiting.splice(0) : [])].forEach(({ reject }) => reject(error)),
      );
    }
    this.#isRunning = false;
  }
}
