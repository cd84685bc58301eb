import { BoundedCollection } from "../infra/bounded-collection.ts";
import { grouped } from "../infra/grouped.ts";
import type { Indexed } from "../infra/indexes.ts";
import type { Mongo } from "../infra/mongo.ts";
import type { Surface } from "../limiter/surfaces.ts";
import type { Sum } from "./sum.ts";

/** What a key used of a surface in an hour, and what it was refused. */
export interface Usage extends Sum {
  readonly account: string;
  /** Hours since 1970-01-01T00:00Z. */
  readonly hour: number;
  readonly keyId: string;
  readonly surface: Surface;
}

/**
 * What a process counted of an account in a UTC day. Further members are the counts, each named by the hour of the day, the
 * key, the surface, and `used` or `refused`: `14 key_… list used`. They are flat, because $max of a nested one needs a
 * server that makes the objects around it, and the stand-in for MongoDB does not.
 */
interface Day extends Record<string, unknown> {
  /** The account, the day and the process. */
  readonly _id: string;
  readonly account: string;
  /** Days since 1970-01-01. */
  readonly day: number;
}

const dayOf = (hour: number) => Math.floor(hour / 24);

/** Usage in MongoDB. Every method may throw problem store_unavailable, and takes one round trip. */
export class UsageStore implements Indexed {
  readonly indexes = [{ collection: "usage_days", indexes: [{ key: { account: 1, day: 1 } }, { key: { day: 1 } }] }];
  readonly #days: BoundedCollection<Day>;

  constructor(mongo: Mongo) {
    this.#days = new BoundedCollection(mongo, "usage_days");
  }

  /**
   * Sets what a process has counted. To repeat it changes nothing, and a write that arrives after a later one neither.
   * @param counts `writer` names the process. Its numbers only grow.
   */
  async write(counts: readonly (Usage & { readonly writer: string })[]): Promise<void> {
    const days = grouped(counts, ({ account, hour, writer }) => `${account} ${dayOf(hour)} ${writer}`);
    const writes = Array.from(days, ([_id, ofDay]) => {
      const fields = ofDay.flatMap(({ hour, keyId, surface, used, refused }) => {
        const name = `${hour % 24} ${keyId} ${surface}`;
        return [[`${name} used`, used] as const, [`${name} refused`, refused] as const];
      });
      const { account, hour } = ofDay[0]!;
      const update = { $max: Object.fromEntries(fields), $setOnInsert: { day: dayOf(hour) } };
      return { updateOne: { filter: { _id, account }, update, upsert: true } };
    });
    await this.#days.write("update", writes);
  }

  /** Returns the usage of accounts from one hour to another, both included, with one entry for each process. */
  async find(accounts: readonly string[], from: number, to: number): Promise<Usage[]> {
    const days = await this.#days.find({
      account: { $in: [...accounts] },
      day: { $gte: dayOf(from), $lte: dayOf(to) },
    });
    const counted = days.flatMap(({ _id, account, day, ...counts }) =>
      Object.keys(counts).flatMap((name) => {
        const [hourOfDay, keyId = "", surface = "", kind] = name.split(" ");
        if (kind !== "used") return [];
        const [used, refused] = [counts[name], counts[`${hourOfDay} ${keyId} ${surface} refused`]].map(Number);
        const hour = 24 * day + Number(hourOfDay);
        return { account, hour, keyId, surface: surface as Surface, used: used!, refused: refused! };
      }),
    );
    return counted.filter(({ hour }) => hour >= from && hour <= to);
  }

  /** Returns how many documents were removed. Takes any number of round trips. @param hour as in Usage. */
  removeBefore(hour: number, stop: AbortSignal): Promise<number> {
    return this.#days.deleteInBatches({ day: { $lt: dayOf(hour) } }, stop);
  }
}
