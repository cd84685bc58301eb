import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Mongo } from "../infra/mongo.ts";
import type { Tombstone } from "./erasure.ts";

/** Maximum number of candidates that are listed. */
const MAX_LISTED = 1_000;
/** Time until a candidate is noted again, in milliseconds: it may have been repaired, and broken again. */
const NOTED_MS = 60_000;

/** Says that the record of a candidate has not the form that this version knows. */
export class UnreadableRecord extends Error {
  /** What an erasure needs of it. */
  readonly salvaged: Tombstone;
  /** What is wrong, without values of the record. */
  readonly reason: string;

  /** @param fault an error, or what is wrong. */
  constructor(salvaged: Tombstone, fault: unknown) {
    // JSON.parse repeats the text that it refuses.
    const reason = fault instanceof SyntaxError ? fault.name : fault instanceof Error ? fault.message : String(fault);
    super(`The record of ${salvaged.id} cannot be read: ${reason}`);
    this.name = "UnreadableRecord";
    this.salvaged = salvaged;
    this.reason = reason;
  }
}

interface Entry {
  readonly _id: string;
  readonly account: string;
  readonly reason: string;
  readonly found_at: string;
}

export type UnreadableLog = Pick<Logger, "error">;

/** Lists the candidates whose records cannot be read, until they are repaired or erased. No personal data. */
export class UnreadableStore {
  readonly #entries: BoundedCollection<Entry>;
  readonly #log: UnreadableLog | undefined;
  readonly #noted = new LRUCache<string, true>({ max: MAX_LISTED, ttl: NOTED_MS });

  constructor(mongo: Mongo, log: UnreadableLog | undefined) {
    this.#entries = new BoundedCollection(mongo, "unreadable_records");
    this.#log = log;
  }

  /** Adds a candidate to the list, and logs it if it is new there. Returns at once, and never throws. */
  note({ salvaged: { id, accountId: account }, reason }: UnreadableRecord): void {
    if (this.#noted.has(id)) return;
    this.#noted.set(id, true);
    const found_at = new Date().toISOString();
    this.#entries.insertIfAbsent({ _id: id, account, reason, found_at }).then(
      (isNew) => isNew && this.#log?.error({ candidate: id, account, reason }, "a record cannot be read"),
      () => this.#noted.delete(id),
    );
  }

  /** Ids of candidates that were noted in the last minute. No round trip. */
  recent(): string[] {
    return [...this.#noted.keys()];
  }

  /** Returns at most MAX_LISTED. @throws problem store_unavailable, as `remove` does. */
  all(): Promise<Pick<Entry, "_id" | "account">[]> {
    return this.#entries.find({}, { projection: { account: 1 }, limit: MAX_LISTED });
  }

  async remove(id: string): Promise<void> {
    await this.#entries.deleteOne({ _id: id });
  }
}
