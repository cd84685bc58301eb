import type { Collection } from "mongodb";
import type { Clock } from "../infra/clock.ts";
import { type Mongo, within } from "../infra/mongo.ts";

/** The candidate that a file belongs to, or is to belong to. */
export interface FileOwner {
  readonly accountId: string;
  readonly candidateId: string;
}

/**
 * A file that a record may or may not name. `arriving`: it is being uploaded, or its record is being written. `replaced`:
 * another file is taking its place. `condemned`: a sweep found that no record names it, and is removing its bytes.
 */
export interface PendingFile {
  readonly _id: string;
  readonly account: string;
  readonly candidate: string;
  /** When somebody last worked with it, in milliseconds since the epoch. */
  readonly created_at: number;
  readonly stage: "arriving" | "replaced" | "condemned";
}

/** Left-overs found at a time. */
const PAGE = 100;

/** The files that are not settled. Each is listed before its first byte is written. Every method throws problem store_unavailable. */
export class PendingStore {
  readonly #mongo: Mongo;
  readonly #clock: Clock;
  readonly #pending: Collection<PendingFile>;

  constructor(mongo: Mongo, clock: Clock) {
    this.#mongo = mongo;
    this.#clock = clock;
    this.#pending = mongo.db.collection("content_pending");
  }

  /** Creates the index. Safe to repeat. It spans accounts, as the sweep does. */
  async prepare(): Promise<void> {
    await this.#pending.createIndex({ created_at: 1 });
  }

  /** Lists a file whose upload begins. */
  async arriving(id: string, { accountId, candidateId }: FileOwner): Promise<void> {
    const entry: PendingFile = {
      _id: id,
      account: accountId,
      candidate: candidateId,
      created_at: this.#clock.now(),
      stage: "arriving",
    };
    await this.#mongo.bounded((signal) => this.#pending.insertOne(entry, within(signal)));
  }

  /** Restarts the file's age: all its bytes have arrived. @returns false if a sweep has condemned it meanwhile. */
  async arrived(id: string): Promise<boolean> {
    const { matchedCount } = await this.#mongo.bounded((signal) =>
      this.#pending.updateOne(
        { _id: id, stage: "arriving" },
        { $set: { created_at: this.#clock.now() } },
        within(signal),
      ),
    );
    return matchedCount === 1;
  }

  /** Lists a file that another is about to replace. It is removed once its record no longer names it. */
  async replaced(id: string, { accountId, candidateId }: FileOwner): Promise<void> {
    const entry: Omit<PendingFile, "_id"> = {
      account: accountId,
      candidate: candidateId,
      created_at: this.#clock.now(),
      stage: "replaced",
    };
    await this.#mongo.bounded((signal) =>
      this.#pending.updateOne({ _id: id }, { $set: entry }, { ...within(signal), upsert: true }),
    );
  }

  /** Strikes out a file that a record names now, unless it is already being replaced again. */
  async named(id: string): Promise<void> {
    await this.#mongo.bounded((signal) => this.#pending.deleteOne({ _id: id, stage: "arriving" }, within(signal)));
  }

  /** Strikes out a file whose bytes are removed. */
  async gone(id: string): Promise<void> {
    await this.#mongo.bounded((signal) => this.#pending.deleteOne({ _id: id }, within(signal)));
  }

  /** Up to 100 files that nobody has worked with for at least so long, oldest first. One index range. */
  leftOvers(olderThanMs: number): Promise<PendingFile[]> {
    const before = this.#clock.now() - olderThanMs;
    return this.#mongo.bounded((signal) =>
      this.#pending
        .find({ created_at: { $lte: before } }, { signal })
        .sort({ created_at: 1 })
        .limit(PAGE)
        .toArray(),
    );
  }

  /** Keeps a left-over from being used from now on. @returns false if somebody has worked with it since it was found. */
  async condemn({ _id, created_at }: PendingFile): Promise<boolean> {
    const { matchedCount } = await this.#mongo.bounded((signal) =>
      this.#pending.updateOne({ _id, created_at }, { $set: { stage: "condemned" } }, within(signal)),
    );
    return matchedCount === 1;
  }

  /** Strikes out a left-over that a record names, unless somebody has worked with it since it was found. */
  async forget({ _id, created_at }: PendingFile): Promise<void> {
    await this.#mongo.bounded((signal) => this.#pending.deleteOne({ _id, created_at }, within(signal)));
  }
}
