import { Binary } from "mongodb";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Indexed } from "../infra/indexes.ts";
import type { Mongo } from "../infra/mongo.ts";

/** The record of one Idempotency-Key of one account. Times are milliseconds since the epoch. */
export interface IdempotencyRecord {
  /** The account and the SHA-256 of the key. */
  readonly id: string;
  readonly accountId: string;
  /** What the request is about: a candidate's id. Undefined in records of 0.1.0. */
  readonly subject?: string;
  /** How often the outcome was forgotten. Undefined means never. */
  readonly forgotten?: number;
  /** SHA-256 of the request. */
  readonly fingerprint: string;
  /** The identifiers that the work creates are derived from it. */
  readonly seed: string;
  /** The attempt that does the work. No other attempt may start before `leaseUntil`. */
  readonly owner: string;
  readonly leaseUntil: number;
  readonly createdAt: number;
  /** The outcome, encoded by `pack`. Undefined until the work is done. */
  readonly outcome: Uint8Array | undefined;
}

interface Stored {
  _id: string;
  account: string;
  subject?: string;
  forgotten?: number;
  fingerprint: string;
  seed: string;
  owner: string;
  lease_until: number;
  created_at: number;
  state: "running" | "done";
  outcome: Binary | null;
}

/** Records removed at a time, so that each operation stays short. */
const REMOVAL_BATCH = 500;

/**
 * The records of Idempotency-Keys. Every method throws problem store_unavailable. Each is one round trip, except the
 * removal.
 */
export class IdempotencyStore implements Indexed {
  /** For the removal, and for erasures. */
  readonly indexes = [
    { collection: "idempotency_records", indexes: [{ key: { created_at: 1 } }, { key: { account: 1, subject: 1 } }] },
  ];
  readonly #records: BoundedCollection<Stored>;

  constructor(mongo: Mongo) {
    this.#records = new BoundedCollection(mongo, "idempotency_records");
  }

  /** Stores the record of a request whose work is not done. Returns false if the key already has a record. */
  async insert(record: IdempotencyRecord): Promise<boolean> {
    return this.#records.insertIfAbsent(encode(record));
  }

  async find(accountId: string, id: string): Promise<IdempotencyRecord | undefined> {
    const stored = await this.#records.findOne({ _id: id, account: accountId });
    return stored === null ? undefined : decode(stored);
  }

  /**
   * Replaces the record `before` by that of a request whose work is not done. Returns false if the stored record has changed
   * since `before` was read: it was renewed, taken over or finished.
   */
  async swap(before: IdempotencyRecord, after: IdempotencyRecord): Promise<boolean> {
    const { _id, account, seed, owner, lease_until } = encode(before);
    const state: Stored["state"] = before.outcome === undefined ? "running" : "done";
    const unchanged = { _id, account, seed, owner, lease_until, state, forgotten: times(before) };
    return this.#records.replaceOne(unchanged, encode(after));
  }

  /** Sets the end of the lease if the record still has this owner and is not finished. Else returns false. */
  async lease({ id, accountId, owner }: IdempotencyRecord, until: number): Promise<boolean> {
    const running = { _id: id, account: accountId, owner, state: "running" } as const;
    return this.#records.updateOne(running, { $set: { lease_until: until } });
  }

  /**
   * Stores the outcome, no matter who has the lease now. Returns false if another attempt finished first, or if outcomes
   * about the subject were forgotten since the record was read.
   */
  async finish(record: IdempotencyRecord, outcome: Uint8Array): Promise<boolean> {
    const { id, accountId, seed } = record;
    const running = { _id: id, account: accountId, seed, state: "running", forgotten: times(record) } as const;
    const done = { state: "done", outcome: new Binary(outcome) } as const;
    return this.#records.updateOne(running, { $set: done });
  }

  /**
   * Removes a record. Returns false if it is finished, if another attempt has taken it over, or if outcomes about the
   * subject were forgotten since the record was read.
   */
  async remove(record: IdempotencyRecord): Promise<boolean> {
    const { id, accountId, seed, owner } = record;
    const running = { _id: id, account: accountId, seed, owner, state: "running", forgotten: times(record) } as const;
    return this.#records.deleteOne(running);
  }

  /**
   * Removes every outcome about a subject, stored or still to come. A retry does its work again, with the same seed. One
   * index range.
   */
  async forgetOutcomes(accountId: string, subject: string): Promise<void> {
    await this.#records.updateMany(aboutSubject(accountId, subject), {
      $set: { state: "running", outcome: null, lease_until: 0 },
      $inc: { forgotten: 1 },
    });
  }

  /**
   * Replaces every outcome about a subject, stored or still to come: a request that is running finds that another one has
   * finished first. One index range.
   * @param outcome encoded by `pack`.
   */
  async replaceOutcomes(accountId: string, subject: string, outcome: Uint8Array): Promise<void> {
    const done = { state: "done", outcome: new Binary(outcome) } as const;
    await this.#records.updateMany(aboutSubject(accountId, subject), { $set: done });
  }

  /**
   * Removes the records created before then, and returns their number. Two round trips for every 500 records. Checks
   * `stop` before each removal.
   */
  async removeOlderThan(epochMs: number, stop: AbortSignal): Promise<number> {
    const old = { created_at: { $lt: epochMs } };
    for (let removed = 0; ;) {
      const found = await this.#records.find(old, { projection: { _id: 1 }, limit: REMOVAL_BATCH });
      if (found.length === 0 || stop.aborted) return removed;
      // Check the age again: if a key was used again meanwhile, a new record has replaced its old one.
      removed += await this.#records.deleteMany({ _id: { $in: found.map(({ _id }) => _id) }, ...old });
    }
  }
}

/** Matches the records about a subject. With $eq the stand-in for MongoDB uses the index too. */
function aboutSubject(accountId: string, subject: string) {
  return { account: { $eq: accountId }, subject: { $eq: subject } };
}

/** Matches a record whose outcome was not forgotten since it was read. */
function times({ forgotten }: IdempotencyRecord): number | { $exists: false } {
  return forgotten ?? { $exists: false };
}

/** Converts a record to its stored form, without its outcome: `finish` stores that. */
function encode({ id, accountId, leaseUntil, createdAt, outcome: _outcome, ...record }: IdempotencyRecord): Stored {
  return {
    _id: id,
    account: accountId,
    ...record,
    lease_until: leaseUntil,
    created_at: createdAt,
    state: "running",
    outcome: null,
  };
}

function decode({
  _id,
  account,
  lease_until,
  created_at,
  state: _state,
  outcome,
  ...record
}: Stored): IdempotencyRecord {
  return {
    id: _id,
    accountId: account,
    ...record,
    leaseUntil: lease_until,
    createdAt: created_at,
    outcome: outcome?.value(),
  };
}
