import type { Collection } from "mongodb";
import type { Clock } from "../infra/clock.ts";
import { type Mongo, within } from "../infra/mongo.ts";

/** Whose a file is, or is to be. */
export interface FileOwner {
  readonly account: string;
  readonly candidate: string;
}

/**
 * A file that a record may or may not name: on its way in, or being replaced. `condemned`: a sweep has found that no
 * record names it, and is taking its bytes away.
 */
export interface PendingFile extends FileOwner {
  readonly _id: string;
  /** When it was last known to be in somebody's hands, in milliseconds since the epoch. */
  readonly created_at: number;
  readonly stage: "arriving" | "replaced" | "condemned";
}

/** Left-overs found at a time. */
const PAGE = 100;

/** The files whose fate is open; each is here before its first byte, and as long as its fate is open. */
export class PendingStore {
  readonly #mongo: Mongo;
  readonly #clock: Clock;
  readonly #pending: Collection<PendingFile>;

  constructor(mongo: Mongo, clock: Clock) {
    this.#mongo = mongo;
    this.#clock = clock;
    this.#pending = mongo.db.collection("content_pending");
  }

  /** Makes the index; harmless where it is already. It spans accounts, as the sweep does. */
  async prepare(): Promise<void> {
    await this.#pending.createIndex({ created_at: 1 });
  }

  async arriving(id: string, { account, candidate }: FileOwner): Promise<void> {
    const entry: PendingFile = { _id: id, account, candidate, created_at: this.#clock.now(), stage: "arriving" };
    await this.#mongo.bounded((signal) => this.#pending.insertOne(entry, within(signal)));
  }

  /** Starts its time anew: the bytes are all here. @returns whether it was still there to be used. */
  async arrived(id: string): Promise<boolean> {
    const { matchedCount } = await this.#mongo.bounded((signal) =>
      this.#pending.updateOne({ _id: id, stage: "arriving" }, { $set: { created_at: this.#clock.now() } }, within(signal)),
    );
    return matchedCount === 1;
  }

  /** Before the record comes to name another file: this one goes when the record does not name it any more. */
  async replaced(id: string, { account, candidate }: FileOwner): Promise<void> {
    const entry: Omit<PendingFile, "_id"> = { account, candidate, created_at: this.#clock.now(), stage: "replaced" };
    await this.#mongo.bounded((signal) => this.#pending.updateOne({ _id: id }, { $set: entry }, { ...within(signal), upsert: true }));
  }

  /** A record names it now. One that is being replaced meanwhile stays pending. */
  async named(id: string): Promise<void> {
    await this.#mongo.bounded((signal) => this.#pending.deleteOne({ _id: id, stage: "arriving" }, within(signal)));
  }

  /** Its bytes are gone. */
  async gone(id: string): Promise<void> {
    await this.#mongo.bounded((signal) => this.#pending.deleteOne({ _id: id }, within(signal)));
  }

  /** Up to 100 that nobody has touched for so long, oldest first. One index range. */
  leftOvers(olderThanMs: number): Promise<PendingFile[]> {
    const before = this.#clock.now() - olderThanMs;
    return this.#mongo.bounded((signal) =>
      this.#pending.find({ created_at: { $lte: before } }, { signal }).sort({ created_at: 1 }).limit(PAGE).toArray(),
    );
  }

  /** Keeps a left-over from being used from now on. @returns false where somebody has touched it since it was found. */
  async condemn({ _id, created_at }: PendingFile): Promise<boolean> {
    const { matchedCount } = await this.#mongo.bounded((signal) =>
      this.#pending.updateOne({ _id, created_at }, { $set: { stage: "condemned" } }, within(signal)),
    );
    return matchedCount === 1;
  }

  /** Forgets a left-over that a record names, unless somebody has touched it since it was found. */
  async forget({ _id, created_at }: PendingFile): Promise<void> {
    await this.#mongo.bounded((signal) => this.#pending.deleteOne({ _id, created_at }, within(signal)));
  }
}
