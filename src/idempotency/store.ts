import { Binary } from "mongodb";
import { BoundedCollection, equals } from "../infra/bounded-collection.ts";
import type { Indexed } from "../infra/indexes.ts";
import type { Mongo } from "../infra/mongo.ts";

/** The record of one Idempotency-Key of one account, as MongoDB stores it. Times are milliseconds since the epoch. */
export interface IdempotencyRecord {
  /** The account and the SHA-256 of the key. */
  readonly _id: string;
  readonly account: string;
  /** The id of the candidate that the request is about. Undefined in records of 0.1.0. */
  readonly subject?: string;
  /** Number of times that the outcome was forgotten. Undefined means never. */
  readonly forgotten?: number;
  /** SHA-256 of the request. */
  readonly fingerprint: string;
  /** The identifiers that the work creates are derived from it. */
  readonly seed: string;
  /** The attempt that does the work. No other attempt may start before `lease_until`. */
  readonly owner: string;
  readonly lease_until: number;
  readonly created_at: number;
  readonly state: "running" | "done";
  /** The outcome, encoded by `pack`. Null until the work is done. */
  readonly outcome: Binary | null;
}

/** The records of Idempotency-Keys. Every method but `removeOlderThan` is one round trip. All throw store_unavailable. */
export class IdempotencyStore implements Indexed {
  /** For the removal, and for erasures. */
  readonly indexes = [
    { collection: "idempotency_records", indexes: [{ key: { created_at: 1 } }, { key: { account: 1, subject: 1 } }] },
  ];
  readonly #records: BoundedCollection<IdempotencyRecord>;

  constructor(mongo: Mongo) {
    this.#records = new BoundedCollection(mongo, "idempotency_records");
  }

  /** Inserts the record of a request whose work is not done. Returns false if the key already has a record. */
  insert(record: IdempotencyRecord): Promise<boolean> {
    return this.#records.insertIfAbsent(record);
  }

  find(account: string, _id: string): Promise<IdempotencyRecord | null> {
    return this.#records.findOne({ _id, account });
  }

  /** Replaces the record `before`. Returns false if it was renewed, taken over, finished or forgotten since it was read. */
  replace(before: IdempotencyRecord, { _id, ...after }: IdempotencyRecord): Promise<boolean> {
    const { owner, lease_until, state } = before;
    return this.#records.replaceOne({ ...running(before), owner, lease_until, state }, after);
  }

  /** Sets the end of the lease. Returns false if the record is finished, or if another attempt has taken it over. */
  lease({ _id, account, owner }: IdempotencyRecord, until: number): Promise<boolean> {
    return this.#records.updateOne({ _id, account, owner, state: "running" }, { $set: { lease_until: until } });
  }

  /**
   * Stores the outcome, no matter who holds the lease. Returns false if another attempt finished first, or if outcomes
   * about the subject were forgotten since the record was read.
   */
  finish(record: IdempotencyRecord, outcome: Uint8Array): Promise<boolean> {
    return this.#records.updateOne(running(record), { $set: done(outcome) });
  }

  /** As `finish`, removes a record. Returns false also if another attempt has taken it over. */
  remove(record: IdempotencyRecord): Promise<boolean> {
    return this.#records.deleteOne({ ...running(record), owner: record.owner });
  }

  /** Removes every outcome about a subject, stored or still to come. A retry does its work again, with the same seed. */
  async forgetOutcomes(account: string, subject: string): Promise<void> {
    const forgotten = { $set: { state: "running", outcome: null, lease_until: 0 }, $inc: { forgotten: 1 } } as const;
    await this.#records.updateMany({ account: equals(account), subject: equals(subject) }, forgotten);
  }

  /** Replaces every outcome about a subject, stored or still to come. A running request finds that another finished first. */
  async replaceOutcomes(account: string, subject: string, outcome: Uint8Array): Promise<void> {
    await this.#records.updateMany({ account: equals(account), subject: equals(subject) }, { $set: done(outcome) });
  }

  /** Removes the records created before then, in batches, until `stop` is aborted. Returns their number. */
  removeOlderThan(epochMs: number, stop: AbortSignal): Promise<number> {
    return this.#records.deleteInBatches({ created_at: { $lt: epochMs } }, stop);
  }
}

/** Matches a record whose work is not done, and whose outcome was not forgotten since it was read. */
function running({ _id, account, seed, forgotten }: IdempotencyRecord) {
  return { _id, account, seed, state: "running", forgotten: forgotten ?? { $exists: false } } as const;
}

function done(outcome: Uint8Array) {
  return { state: "done", outcome: new Binary(outcome) } as const;
}
