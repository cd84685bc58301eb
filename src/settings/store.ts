import { isDeepStrictEqual } from "node:util";
import { setTimeout } from "node:timers/promises";
import type { Collection } from "mongodb";
import { type Clock, timestamp } from "../infra/clock.ts";
import { Lines } from "../infra/keyed-queue.ts";
import { isDuplicateKey, isStoreDown, type Mongo, within } from "../infra/mongo.ts";
import { problem } from "../problems.ts";

/** A race lost so often in a row is no race any more but a fault. */
const MOST_ATTEMPTS = 50;
/** The wait after a lost race grows by up to this much each time, in milliseconds. */
const JITTER_MS = 5;

/** What an account has set itself; a setting that is not in `values` has its default. */
export interface SettingsRecord<Values> {
  /** Counts the changes; 0 before the first. */
  readonly version: number;
  readonly updated_at: string | null;
  readonly values: Partial<Values>;
}

/** `values` is JSON text, so that whatever was sent comes back as it was. */
interface Stored {
  /** The account. */
  _id: string;
  version: number;
  updated_at: string;
  values: string;
}

/** One kind of settings, one record an account. */
export class SettingsStore<Values> {
  readonly #mongo: Mongo;
  readonly #clock: Clock;
  readonly #settings: Collection<Stored>;
  readonly #lines = new Lines(isStoreDown);

  constructor(mongo: Mongo, clock: Clock, collection: "assistant_settings" | "quiet_hours_settings") {
    this.#mongo = mongo;
    this.#clock = clock;
    this.#settings = mongo.db.collection(collection);
  }

  /** What the account has set; nothing, where it never set any. One round trip. @throws problem store_unavailable */
  async get(account: string): Promise<SettingsRecord<Values>> {
    const stored = await this.#mongo.bounded((signal) => this.#settings.findOne({ _id: account }, { signal }));
    if (stored === null) return { version: 0, updated_at: null, values: {} };
    return { version: stored.version, updated_at: stored.updated_at, values: JSON.parse(stored.values) as Partial<Values> };
  }

  /**
   * Makes one change: reads, edits, and writes over the version that was read; where another write came between, once more
   * from the start. Two round trips, two more for each race that was lost; an edit that changes nothing writes nothing.
   * @param edit gives the values as they should be; what it throws ends the change. It may be called more than once.
   * @throws problem store_unavailable
   */
  change(account: string, edit: (record: SettingsRecord<Values>) => Partial<Values>): Promise<SettingsRecord<Values>> {
    // Writers of this process stand in line, so that they race only those of other replicas.
    return this.#lines.run(account, async () => {
      for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
        const before = await this.get(account);
        const values = edit(before);
        if (isDeepStrictEqual(values, before.values)) return before;
        const after = { version: before.version + 1, updated_at: timestamp(this.#clock.now()), values };
        if (await this.#wrote(account, before.version, after)) return after;
        await setTimeout(Math.random() * JITTER_MS * attempt);
      }
      throw problem("store_unavailable", "Too many changes of these settings at once. Try again shortly.", { headers: { "Retry-After": "1" } });
    });
  }

  /** False where another write came first. */
  async #wrote(account: string, version: number, after: { version: number; updated_at: string; values: unknown }): Promise<boolean> {
    const stored: Stored = { _id: account, ...after, values: JSON.stringify(after.values) };
    if (version > 0) {
      const replaced = (signal: AbortSignal) => this.#settings.replaceOne({ _id: account, version }, stored, within(signal));
      return (await this.#mongo.bounded(replaced)).matchedCount === 1;
    }
    try {
      await this.#mongo.bounded((signal) => this.#settings.insertOne(stored, within(signal)));
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }
}
