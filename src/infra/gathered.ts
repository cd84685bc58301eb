interface Batch<Item> {
  readonly items: Item[];
  readonly handled: Promise<void>;
  /** Begins the call. */
  readonly go: () => void;
}

/** Handles the items that come within a short time in one call. An item that comes alone does not wait. */
export class Gathered<Item> {
  readonly #gapMs: number;
  readonly #handle: (items: readonly Item[]) => Promise<void>;
  #next: Batch<Item> | undefined;
  #size = 0;
  /** When the next call may begin, by `performance.now()`. */
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
    this.#next ??= this.#begin();
    const { items, handled } = this.#next;
    items.push(item);
    this.#size++;
    try {
      await handled;
    } finally {
      this.#size--;
    }
  }

  /** Begins the next call now. */
  flush(): void {
    this.#next?.go();
  }

  #begin(): Batch<Item> {
    const items: Item[] = [];
    let go = (): void => undefined;
    const begun = new Promise<void>((resolve) => (go = resolve));
    const timer = setTimeout(go, Math.max(0, this.#nextAt - performance.now()));
    const handled = begun.then(() => {
      clearTimeout(timer);
      this.#next = undefined;
      this.#nextAt = performance.now() + this.#gapMs;
      return this.#handle(items);
    });
    return { items, handled, go };
  }
}
