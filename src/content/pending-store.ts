import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Clock } from "../infra/clock.ts";
import type { Indexed } from "../infra/indexes.ts";
import type { Mongo } from "../infra/mongo.ts";

/** The candidate that a file belongs to, or is to belong to. */
export interface FileOwner {
  readonly accountId: string;
  readonly candidateId: string;
}

/**
 * A file that a record may or may not name. `arriving`: the file is being uploaded, or its record is being written.
 * `replaced`: another file is replacing it. `condemned`: a sweep found that no record names it, and is removing its
 * bytes.
 */
export interface PendingFile {
  readonly _id: string;
  readonly account: string;
  readonly candidate: string;
  /** When a request last worked with the file, in milliseconds since the epoch. */
  readonly created_at: number;
  readonly stage: "arriving" | "replaced" | "condemned";
}

const MAX_LEFT_OVERS = 100;

/**
 * The list of files of which it is not settled whether a record names them. A file is listed before its first byte is
 * written. Every method throws problem store_unavailable.
 */
export class PendingStore implements Indexed {
  /** The first one spans accounts, because the sweep covers all of them. */
  readonly indexes = [
    { collection: "content_pending", indexes: [{ key: { created_at: 1 } }, { key: { account: 1, candidate: 1 } }] },
  ];
  readonly #clock: Clock;
  readonly #pending: BoundedCollection<PendingFile>;

  constructor(mongo: Mongo, clock: Clock) {
    this.#clock = clock;
    this.#pending = new BoundedCollection(mongo, "content_pending");
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
    await this.#pending.insertOne(entry);
  }

  /**
   * Restarts the file's age, once all its bytes have arrived.
   * @returns false if a sweep has condemned the file meanwhile.
   */
  async arrived(id: string): Promise<boolean> {
    return this.#pending.updateOne({ _id: id, stage: "arriving" }, { $set: { created_at: this.#clock.now() } });
  }

  /** Lists a file that another one is about to replace. A sweep removes it once its record no longer names it. */
  async replaced(id: string, { accountId, candidateId }: FileOwner): Promise<void> {
    const entry: Omit<PendingFile, "_id"> = {
      account: accountId,
      candidate: candidateId,
      created_at: this.#clock.now(),
      stage: "replaced",
    };
    await this.#pending.updateOne({ _id: id }, { $set: entry }, { upsert: true });
  }

  /** Removes the entry of a file that a record now names, unless the file is already being replaced again. */
  async named(id: string): Promise<void> {
    await this.#pending.deleteOne({ _id: id, stage: "arriving" });
  }

  /** Removes the entry of a file whose bytes have been removed. */
  async gone(id: string): Promise<void> {
    await this.#pending.deleteOne({ _id: id });
  }

  /**
   * Returns up to 100 files that no request has worked with for at least `olderThanMs`, oldest first. One index range.
   */
  leftOvers(olderThanMs: number): Promise<PendingFile[]> {
    const before = this.#clock.now() - olderThanMs;
    return this.#pending.find({ created_at: { $lte: before } }, { sort: { created_at: 1 }, limit: MAX_LEFT_OVERS });
  }

  /** Returns the files of a candidate that are not settled. One index range. */
  ofCandidate({ accountId, candidateId }: FileOwner): Promise<PendingFile[]> {
    return this.#pending.find({ account: accountId, candidate: candidateId });
  }

  /**
   * Condemns a left-over, so that its upload fails.
   * @returns false if a request has worked with the file since it was found.
   */
  async condemn({ _id, created_at }: PendingFile): Promise<boolean> {
    return this.#pending.updateOne({ _id, created_at }, { $set: { stage: "condemned" } });
  }

  /**
   * Removes the entry of a left-over that a record names, unless a request has worked with the file since it was found.
   */
  async forget({ _id, created_at }: PendingFile): Promise<void> {
    await this.#pending.deleteOne({ _id, created_at });
  }
}
