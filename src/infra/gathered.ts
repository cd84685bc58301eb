/** Handles the items that come within a short time in one call. An item that comes alone does not wait. */
export class Gathered<Item> {
  readonly #gapMs: number;
  readonly #handle: (items: readonly Item[]) => Promise<void>;
  /** Items of the next call. */
  #items: Item[] = [];
  #handled: Promise<void> | undefined;
  #begin: () => void = () => undefined;
  #size = 0;
  /** Time when the next call may begin, by `performance.now()`. */
  #nextAt = 0;

  /** @param gapMs from the beginning of one call to that of the next, in milliseconds. */
  constructor(gapMs: number, handle: (items: readonly Item[]) => Promise<void>) {
    this.#gapMs = gapMs;
    this.#handle = handle;
  }

  /** Number of items that are not handled yet. */
  get size(): number {
    return this.#size;
  }

  /** Resolves once the call that handles the item has ended. Throws what that call throws. */
  async add(item: Item): Promise<void> {
    this.#items.push(item);
    this.#size++;
    this.#handled ??= this.#next();
    try {
      await this.#handled;
    } finally {
      this.#size--;
    }
  }

  /** Begins the next call now. */
  flush(): void {
    this.#begin();
  }

  async #next(): Promise<void> {
    await new Promise<void>((resolve) => {
      const waitMs = Math.max(0, this.#nextAt - performance.now());
      const timer = setTimeout(resolve, Math.ceil(waitMs)); // Node drops the fraction of a millisecond
      this.#begin = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    const items = this.#items;
    this.#items = [];
    this.#handled = undefined;
    this.#nextAt = performance.now() + this.#gapMs;
    await this.#handle(items);
  }
}
