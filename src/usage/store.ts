import { BoundedCollection } from "../infra/bounded-collection.ts";
import { HOUR_MS } from "../infra/clock.ts";
import type { Indexed } from "../infra/indexes.ts";
import type { Mongo } from "../infra/mongo.ts";
import type { UsageRow } from "./schema.ts";

/** Hours that are kept. */
export const KEPT_HOURS = 30 * 24;

/** What a key of an account used of a surface in an hour, and what it was refused. */
export interface Usage extends Omit<UsageRow, "hour"> {
  account: string;
  /** Hours since 1970-01-01T00:00Z. */
  hour: number;
}

type Sum = Pick<Usage, "used" | "refused">;

/** Adds up those that have the same name, in their order. */
export function sumBy<Counted extends Sum>(all: readonly Counted[], nameOf: (each: Counted) => string): Counted[] {
  const sums = new Map<string, Counted>();
  for (const each of all) {
    const name = nameOf(each);
    const sum = sums.get(name);
    if (sum === undefined) sums.set(name, { ...each });
    else Object.assign(sum, { used: sum.used + each.used, refused: sum.refused + each.refused });
  }
  return [...sums.values()];
}

/** Usage in MongoDB: a document for each hour, key and surface that a process counted. Every method may throw problem store_unavailable. */
export class UsageStore implements Indexed {
  readonly indexes = [{ collection: "usage", indexes: [{ key: { account: 1, hour: 1 } }, { key: { hour: 1 } }] }];
  readonly #usage: BoundedCollection<Usage & { _id: string }>;

  constructor(mongo: Mongo) {
    this.#usage = new BoundedCollection(mongo, "usage");
  }

  /**
   * Sets what a process has counted. To repeat it changes nothing, and a write that arrives after a later one neither.
   * @param writer names the process. Its numbers only grow.
   */
  async write(counts: readonly Usage[], writer: string): Promise<void> {
    const writes = counts.map(({ account, hour, surface, key_id, used, refused }) => ({
      updateOne: {
        filter: { _id: `${hour} ${surface} ${key_id} ${writer}`, account },
        update: { $max: { used, refused }, $setOnInsert: { hour, surface, key_id } },
        upsert: true,
      },
    }));
    await this.#usage.write("update", writes);
  }

  /** Returns what the keys of an account used from one hour to another, both included, the oldest hour first. */
  async ofAccount(account: string, from: number, to: number): Promise<Usage[]> {
    const sort = { hour: 1, surface: 1, key_id: 1 } as const;
    const found = await this.#usage.find({ account, hour: { $gte: from, $lte: to } }, { projection: { _id: 0 }, sort });
    return sumBy(found as Usage[], ({ hour, surface, key_id }) => `${hour} ${surface} ${key_id}`);
  }

  /** Returns what each account used in an hour, of one surface or of all. */
  inHour(hour: number, surface?: string): Promise<(Sum & { _id: string })[]> {
    const $match = surface === undefined ? { hour } : { hour, surface };
    const sums = { used: { $sum: "$used" }, refused: { $sum: "$refused" } };
    return this.#usage.aggregate([{ $match }, { $group: { _id: "$account", ...sums } }]);
  }

  /** Removes what is no longer kept at a time, in milliseconds since the epoch. Returns how many documents were removed. */
  removeOld(now: number, stop: AbortSignal): Promise<number> {
    return this.#usage.deleteInBatches({ hour: { $lt: Math.floor(now / HOUR_MS) - KEPT_HOURS } }, stop);
  }
}
