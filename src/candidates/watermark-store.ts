import type { Collection } from "mongodb";
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

/** The marks of all processes that write candidates. Every method takes one round trip, and may throw store_unavailable. */
export class WatermarkStore {
  readonly #mongo: Mongo;
  readonly #marks: Collection<Mark>;

  constructor(mongo: Mongo) {
    this.#mongo = mongo;
    this.#marks = mongo.db.collection("feed_marks");
  }

  async put({ _id, ...mark }: Mark): Promise<void> {
    await this.#mongo.bounded("update feed_marks", (limits) =>
      this.#marks.updateOne({ _id }, { $set: mark }, { ...limits, upsert: true }),
    );
  }

  all(): Promise<Mark[]> {
    return this.#mongo.bounded("find feed_marks", (limits) => this.#marks.find({}, limits).toArray());
  }

  /** Removes a mark. @param round leaves the mark of a process that has renewed it since. */
  async remove({ _id, round }: Pick<Mark, "_id"> & Partial<Mark>): Promise<void> {
    const mark = round === undefined ? { _id } : { _id, round };
    await this.#mongo.bounded("delete feed_marks", (limits) => this.#marks.deleteOne(mark, limits));
  }
}
