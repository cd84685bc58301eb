import { Binary, type Collection } from "mongodb";
import { isDuplicateKey, type Mongo, within } from "../infra/mongo.ts";

/** What is known of one Idempotency-Key of one account. Times are milliseconds since the epoch. */
export interface IdempotencyRecord {
  /** The account and the SHA-256 of the key. */
  readonly id: string;
  readonly accountId: string;
  /** SHA-256 of the request. */
  readonly fingerprint: string;
  /** What the identifiers that the work makes follow from. */
  readonly seed: string;
  /** Which try does the work, and until when nobody else may start on it. */
  readonly owner: string;
  readonly leaseUntil: number;
  readonly createdAt: number;
  /** The outcome, packed; undefined while the work goes on. */
  readonly outcome: Uint8Array | undefined;
}

interface Stored {
  _id: string;
  account: string;
  fingerprint: string;
  seed: string;
  owner: string;
  lease_until: number;
  created_at: number;
  state: "running" | "done";
  outcome: Binary | null;
}

/** Records that one removal takes at a time: a short operation, however many there are. */
const REMOVAL_BATCH = 500;

/** The records of Idempotency-Keys. Every method throws problem store_unavailable; each is one round trip but for the removal. */
export class IdempotencyStore {
  readonly #mongo: Mongo;
  readonly #records: Collection<Stored>;

  constructor(mongo: Mongo) {
    this.#mongo = mongo;
    this.#records = mongo.db.collection("idempotency_records");
  }

  /** Makes the index that the removal reads; harmless where it is already. */
  async prepare(): Promise<void> {
    await this.#records.createIndex({ created_at: 1 });
  }

  /** False where the key has a record already. */
  async insert(record: IdempotencyRecord): Promise<boolean> {
    try {
      await this.#mongo.bounded((signal) => this.#records.insertOne(encode(record), within(signal)));
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  async find(accountId: string, id: string): Promise<IdempotencyRecord | undefined> {
    const stored = await this.#mongo.bounded((signal) =>
      this.#records.findOne({ _id: id, account: accountId }, { signal }),
    );
    return stored === null ? undefined : decode(stored);
  }

  /** Puts a record in the place of one that was read. False where that has changed since: renewed, taken over, finished. */
  async swap(before: IdempotencyRecord, after: IdempotencyRecord): Promise<boolean> {
    const { _id, account, seed, owner, lease_until, state } = encode(before);
    const { matchedCount } = await this.#mongo.bounded((signal) =>
      this.#records.replaceOne({ _id, account, seed, owner, lease_until, state }, encode(after), within(signal)),
    );
    return matchedCount === 1;
  }

  /** Moves the end of the lease, if it is still its owner's. */
  async lease({ id, accountId, owner }: IdempotencyRecord, until: number): Promise<void> {
    await this.#mongo.bounded((signal) =>
      this.#records.updateOne(
        { _id: id, account: accountId, owner, state: "running" },
        { $set: { lease_until: until } },
        within(signal),
      ),
    );
  }

  /** Keeps the outcome, whoever has the lease by now: the first to finish decides. False where another try was first. */
  async finish({ id, accountId, seed }: IdempotencyRecord, outcome: Uint8Array): Promise<boolean> {
    const done = { state: "done", outcome: new Binary(outcome) } as const;
    const { matchedCount } = await this.#mongo.bounded((signal) =>
      this.#records.updateOne({ _id: id, account: accountId, seed, state: "running" }, { $set: done }, within(signal)),
    );
    return matchedCount === 1;
  }

  /** Removes the records made before then, and says how many those were. Two round trips for every 500, between which it heeds `stop`. */
  async removeOlderThan(epochMs: number, stop: AbortSignal): Promise<number> {
    const old = { created_at: { $lt: epochMs } };
    for (let removed = 0; ;) {
      const found = await this.#mongo.bounded((signal) =>
        this.#records
          .find(old, { signal, projection: { _id: 1 } })
          .limit(REMOVAL_BATCH)
          .toArray(),
      );
      if (found.length === 0 || stop.aborted) return removed;
      // The age is asked for once more: a key that is used again has a new record in the place of its old one.
      const batch = { _id: { $in: found.map(({ _id }) => _id) }, ...old };
      const { deletedCount } = await this.#mongo.bounded((signal) => this.#records.deleteMany(batch, within(signal)));
      removed += deletedCount;
    }
  }
}

function encode({ id, accountId, leaseUntil, createdAt, outcome, ...record }: IdempotencyRecord): Stored {
  return {
    _id: id,
    account: accountId,
    ...record,
    lease_until: leaseUntil,
    created_at: createdAt,
    state: outcome === undefined ? "running" : "done",
    outcome: outcome === undefined ? null : new Binary(outcome),
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
