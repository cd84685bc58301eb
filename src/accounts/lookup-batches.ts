interface Options {
  /** Returns which of the hashes exist, in one round trip. */
  readonly findExisting: (hashes: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Minimum time between the starts of two batches, in milliseconds. */
  readonly everyMs?: number;
  /** Maximum number of hashes in one batch. */
  readonly size?: number;
  /** Maximum number of hashes that wait for a batch. */
  readonly waiting?: number;
}

interface Waiting {
  hash: string;
  resolve: (exists: boolean) => void;
  reject: (reason: unknown) => void;
}

/**
 * Asks the store which hashes exist, many in one query. One batch runs at a time, and at most ten begin in a second. So
 * the store's work has a bound, however many hashes are asked for. If the store is prompt, the result takes a tenth of a
 * second; if all places are taken, half a second.
 */
export class LookupBatches {
  readonly #options: Required<Options>;
  readonly #waiting: Waiting[] = [];
  #running = false;

  constructor(options: Options) {
    this.#options = { everyMs: 100, size: 1_000, waiting: 5_000, ...options };
  }

  /**
   * Returns whether the hash exists; undefined if too many hashes wait already. Rejects with the store's error. All that
   * wait are then rejected too, because the store would fail for them as well.
   */
  async exists(hash: string): Promise<boolean | undefined> {
    if (this.#waiting.length >= this.#options.waiting) return undefined;
    const exists = new Promise<boolean>((resolve, reject) => this.#waiting.push({ hash, resolve, reject }));
    if (!this.#running) void this.#run();
    return exists;
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#waiting.length > 0) {
      const pause = new Promise((resolve) => setTimeout(resolve, this.#options.everyMs));
      await this.#askNext();
      await pause;
    }
    this.#running = false;
  }

  async #askNext(): Promise<void> {
    const asked = this.#waiting.splice(0, this.#options.size);
    try {
      const existing = await this.#options.findExisting(asked.map(({ hash }) => hash));
      for (const { hash, resolve } of asked) resolve(existing.has(hash));
    } catch (error) {
      for (const { reject } of [...asked, ...this.#waiting.splice(0)]) reject(error);
    }
  }
}
