import { isDeepStrictEqual } from "node:util";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import { compareAndSet, KeyedQueue } from "../infra/compare-and-set.ts";
import type { Mongo } from "../infra/mongo.ts";
import type { Assistant, QuietHours } from "./schema.ts";

/** What an account has set. A setting that is not in `values` has its default. */
export interface SettingsRecord<Values> {
  /** Counts the changes. 0 before the first one. */
  readonly version: number;
  readonly updated_at: string | null;
  readonly values: Partial<Values>;
}

/** `values` is JSON text, so that every value is read back exactly as it was written. */
export interface Stored {
  /** The account. */
  _id: string;
  version: number;
  updated_at: string;
  values: string;
}

export function recordOf<Values>(stored: Omit<Stored, "_id">): SettingsRecord<Values> {
  const { version, updated_at, values } = stored;
  return { version, updated_at, values: JSON.parse(values) as Partial<Values> };
}

export function settingsStores(mongo: Mongo, clock: Clock) {
  return {
    assistant: new SettingsStore<Assistant>(mongo, clock, "assistant_settings"),
    quietHours: new SettingsStore<QuietHours>(mongo, clock, "quiet_hours_settings"),
  };
}

/** One kind of settings, with one record per account. Every method may throw problem store_unavailable. */
export class SettingsStore<Values> {
  readonly #clock: Clock;
  readonly #settings: BoundedCollection<Stored>;
  readonly #queue = new KeyedQueue();

  constructor(mongo: Mongo, clock: Clock, collection: `${"assistant" | "quiet_hours" | "retention"}_settings`) {
    this.#clock = clock;
    this.#settings = new BoundedCollection(mongo, collection);
  }

  /** Returns what the account has set, or an empty record at version 0. */
  async get(accountId: string): Promise<SettingsRecord<Values>> {
    const stored = await this.#settings.findOne({ _id: accountId });
    return stored === null ? { version: 0, updated_at: null, values: {} } : recordOf(stored);
  }

  /**
   * Makes one change: reads, edits, and writes over the version that was read. Starts again if another write came in
   * between. An edit that changes nothing writes nothing.
   * @param edit returns the new values. It may be called more than once. If it throws, the change ends with that error.
   */
  change(accountId: string, edit: (record: SettingsRecord<Values>) => Partial<Values>) {
    const attempt = async () => {
      const before = await this.get(accountId);
      const values = edit(before);
      if (isDeepStrictEqual(values, before.values)) return before;
      const after = { version: before.version + 1, updated_at: timestamp(this.#clock.now()), values };
      const stored = { _id: accountId, ...after, values: JSON.stringify(values) };
      const written =
        before.version === 0
          ? this.#settings.insertIfAbsent(stored)
          : this.#settings.replaceOne({ _id: accountId, version: before.version }, stored);
      return (await written) ? after : undefined;
    };
    // Writers queue within this process, so that they race only writers in other replicas.
    return this.#queue.run(accountId, () => compareAndSet("these settings", attempt));
  }
}
