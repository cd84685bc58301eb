import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Mongo } from "../infra/mongo.ts";

/** The mark of one process (see Watermarks). */
export interface Mark {
  /** Names the process. */
  readonly _id: string;
  /** Every change that this process made before then is in the feed, in milliseconds since the epoch. */
  readonly complete_until: number;
  /** Grows each time the process makes its mark. */
  readonly round: number;
}

interface HighWater {
  readonly _id: "feed";
  /** Milliseconds since the epoch. */
  readonly high_water: number;
}

/** The marks of all processes that write candidates. Every method takes one round trip, and may throw store_unavailable. */
export class WatermarkStore {
  readonly #marks: BoundedCollection<Mark>;
  readonly #meta: BoundedCollection<HighWater>;

  constructor(mongo: Mongo) {
    this.#marks = new BoundedCollection(mongo, "feed_marks");
    this.#meta = new BoundedCollection(mongo, "meta");
  }

  async put({ _id, ...mark }: Mark): Promise<void> {
    await this.#marks.updateOne({ _id }, { $set: mark }, { upsert: true });
  }

  /**
   * Raises the high-water mark to this time, and returns the mark, in milliseconds since the epoch. It outlives the
   * processes, and never falls.
   */
  async raise(epochMs: number): Promise<number> {
    return (await this.#meta.upserted({ _id: "feed" }, { $max: { high_water: epochMs } })).high_water;
  }

  all(): Promise<Mark[]> {
    return this.#marks.find({});
  }

  /** Removes a mark. @param round leaves the mark of a process that has renewed it since. */
  async remove({ _id, round }: Pick<Mark, "_id"> & Partial<Mark>): Promise<void> {
    await this.#marks.deleteOne(round === undefined ? { _id } : { _id, round });
  }
}
