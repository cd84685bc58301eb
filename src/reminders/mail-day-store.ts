import { LRUCache } from "lru-cache";
import type { Filter, OptionalUnlessRequiredId } from "mongodb";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import { compareAndSet, KeyedQueue } from "../infra/compare-and-set.ts";
import type { Mongo } from "../infra/mongo.ts";

export type Counts = Readonly<{ messages: number; new_addresses: number; opted_out: number; bounced: number }>;

interface Day {
  /** The account, or the address's hash, and the day. */
  readonly _id: string;
  readonly version: number;
  /** Days since 1970-01-01. */
  readonly day: number;
  readonly messages: number;
}

/** What an account sent in a UTC day. */
export interface AccountDay extends Day {
  readonly account: string;
  readonly new_addresses: number;
  /** By the hour, 0 to 23. */
  readonly hours: Readonly<Record<number, Counts>>;
  /** The messages that were counted and are not settled yet, the oldest first. `address` is a hash, `at` RFC 3339. */
  readonly pending: readonly Readonly<{ key: string; candidate: string; address: string; at: string }>[];
  /** Copy of the first one's time, for the index. */
  readonly pending_since: string | null;
}

/** What one address got in a UTC day. */
export interface AddressDay extends Day {
  /** Hashes of the keys of the latest messages that were counted. */
  readonly pending: readonly string[];
}

/** Maximum number of days in memory, up to some kB each. */
const MAX_KNOWN = 1_000;

/**
 * Days of a collection. Each change is one compare-and-set. The changes of one day queue within this process, so that they
 * race only other replicas'. Every method may throw problem store_unavailable.
 */
export class DayStore<Stored extends Day> {
  readonly collection: BoundedCollection<Stored>;
  readonly #queue = new KeyedQueue();
  /** The days as this process wrote them last. */
  readonly #known = new LRUCache<string, Stored>({ max: MAX_KNOWN });

  constructor(mongo: Mongo, name: string) {
    this.collection = new BoundedCollection(mongo, name);
  }

  /** One round trip if this process has changed the day last. @param none the day before its first change. */
  change(none: Stored, edit: (before: Stored) => Stored): Promise<Stored> {
    const { _id } = none;
    return this.#queue.run(_id, async () => {
      const guess = this.#known.get(_id) ?? none;
      this.#known.delete(_id);
      const after =
        (await this.#write(guess, edit(guess))) ??
        (await compareAndSet("these counts", async () => {
          const before = (await this.collection.findOne({ _id } as Filter<Stored>)) ?? none;
          const edited = edit(before);
          return edited === before ? before : this.#write(before, edited);
        }));
      this.#known.set(_id, after);
      return after;
    });
  }

  /** Returns undefined if nothing was edited, or if the day is another one by now. */
  async #write(before: Stored, edited: Stored): Promise<Stored | undefined> {
    if (edited === before) return undefined;
    const after = { ...edited, version: before.version + 1 };
    const written =
      before.version === 0
        ? this.collection.insertIfAbsent(after as OptionalUnlessRequiredId<Stored>)
        : this.collection.replaceOne({ _id: before._id, version: before.version } as Filter<Stored>, after);
    return (await written) ? after : undefined;
  }
}

const NONE: Counts = { messages: 0, new_addresses: 0, opted_out: 0, bounced: 0 };

export function sum(one: Counts = NONE, more: Partial<Counts>): Counts {
  const other = { ...NONE, ...more };
  return {
    messages: one.messages + other.messages,
    new_addresses: one.new_addresses + other.new_addresses,
    opted_out: one.opted_out + other.opted_out,
    bounced: one.bounced + other.bounced,
  };
}

/** Adds to the counts of an hour, 0 to 23. */
export function inHour(day: AccountDay, hour: number, counts: Partial<Counts>): AccountDay {
  return { ...day, hours: { ...day.hours, [hour]: sum(day.hours[hour], counts) } };
}

/** Counts one message, or takes one back. */
export function counted(day: AccountDay, hour: number, messages: 1 | -1, isNew: boolean): AccountDay {
  const new_addresses = isNew ? messages : 0;
  const totals = { messages: day.messages + messages, new_addresses: day.new_addresses + new_addresses };
  return inHour({ ...day, ...totals }, hour, { messages, new_addresses });
}

/** Leaves out a message that is settled. Returns the same day if it is not there. */
export function settled(day: AccountDay, key: string): AccountDay {
  return isPending(day, key) ? { ...day, pending: day.pending.filter((each) => each.key !== key) } : day;
}

export function isPending({ pending }: AccountDay, key: string): boolean {
  return pending.some((each) => each.key === key);
}
