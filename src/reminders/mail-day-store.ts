import { LRUCache } from "lru-cache";
import type { Filter, OptionalUnlessRequiredId } from "mongodb";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import { compareAndSet, KeyedQueue } from "../infra/compare-and-set.ts";
import { isStoreDown, type Mongo } from "../infra/mongo.ts";

export interface Counts {
  readonly messages: number;
  readonly new_addresses: number;
  readonly opted_out: number;
  readonly bounced: number;
}

/** A message that was counted and is not settled yet. */
export interface Pending {
  readonly key: string;
  readonly candidate: string;
  /** The address's hash. */
  readonly address: string;
  /** RFC 3339. */
  readonly at: string;
}

/** What an account sent in a UTC day. */
export interface AccountDay {
  /** The account and the day. */
  readonly _id: string;
  /** Counts the writes. */
  readonly version: number;
  readonly account: string;
  /** Days since 1970-01-01. */
  readonly day: number;
  readonly messages: number;
  readonly new_addresses: number;
  /** By the hour, 0 to 23. */
  readonly hours: Readonly<Record<number, Counts>>;
  /** The oldest first. */
  readonly pending: readonly Pending[];
  /** Copy of the first one's time, for the index. */
  readonly pending_since: string | null;
}

/** What one address got in a UTC day. */
export interface AddressDay {
  /** The address's hash and the day. */
  readonly _id: string;
  /** Counts the writes. */
  readonly version: number;
  /** Days since 1970-01-01. */
  readonly day: number;
  readonly messages: number;
  /** Hashes of the keys of the latest messages that were counted. */
  readonly pending: readonly string[];
}

/** Maximum number of days in memory, up to some kB each. */
const MAX_KNOWN = 1_000;

/** The counts of messages by the UTC day. Each change is one compare-and-set. Every method may throw problem store_unavailable. */
export class MailDays {
  readonly indexes = [
    {
      collection: "mail_account_days",
      indexes: [
        { key: { day: 1 } },
        { key: { pending_since: 1 }, partialFilterExpression: { pending_since: { $gt: "" } } },
      ],
    },
    { collection: "mail_address_days", indexes: [{ key: { day: 1 } }] },
  ];
  readonly #accounts: BoundedCollection<AccountDay>;
  readonly #addresses: BoundedCollection<AddressDay>;
  readonly #accountDays: Days<AccountDay>;
  readonly #addressDays: Days<AddressDay>;

  constructor(mongo: Mongo) {
    this.#accounts = new BoundedCollection(mongo, "mail_account_days");
    this.#addresses = new BoundedCollection(mongo, "mail_address_days");
    this.#accountDays = new Days(this.#accounts);
    this.#addressDays = new Days(this.#addresses);
  }

  /**
   * Changes the counts of an account's day. One round trip if this process has changed them last, two or three otherwise,
   * and two more for each lost race.
   */
  changeAccount(account: string, day: number, edit: (before: AccountDay) => AccountDay): Promise<AccountDay> {
    const none = { messages: 0, new_addresses: 0, hours: {}, pending: [], pending_since: null };
    return this.#accountDays.change({ _id: `${account}/${day}`, version: 0, account, day, ...none }, (before) => {
      const edited = edit(before);
      return edited === before ? before : { ...edited, pending_since: edited.pending[0]?.at ?? null };
    });
  }

  /** As `changeAccount`. One round trip for the first message of a day. */
  changeAddress(day: number, address: string, edit: (before: AddressDay) => AddressDay): Promise<AddressDay> {
    return this.#addressDays.change({ _id: `${address}/${day}`, version: 0, day, messages: 0, pending: [] }, edit);
  }

  /** Returns the counts of all accounts, from a day on. One round trip. */
  since(day: number): Promise<AccountDay[]> {
    return this.#accounts.find({ day: { $gte: day } });
  }

  /**
   * Returns the messages that were sent from that day on: by all accounts together, and by the one that sent the most. One
   * round trip.
   */
  async total(today: number): Promise<{ messages: number; largest: number }> {
    const found = await this.#accounts.find({ day: { $gte: today } }, { projection: { messages: 1 } });
    const counts = found.map(({ messages }) => messages);
    return { messages: counts.reduce((sum, count) => sum + count, 0), largest: Math.max(0, ...counts) };
  }

  /** Returns days with messages that were counted before that time and never settled. One index range. */
  pendingSince(before: string, limit: number): Promise<AccountDay[]> {
    return this.#accounts.find({ pending_since: { $gt: "", $lt: before } }, { limit });
  }

  /** Removes the counts of days before that one. Returns their number. Two round trips. */
  async removeBefore(day: number): Promise<number> {
    const removed = await this.#accounts.deleteMany({ day: { $lt: day } });
    return removed + (await this.#addresses.deleteMany({ day: { $lt: day } }));
  }
}

/** The days of a collection. The changes of one day queue within this process, so that they race only other replicas'. */
class Days<Stored extends { readonly _id: string; readonly version: number }> {
  readonly #collection: BoundedCollection<Stored>;
  readonly #queue = new KeyedQueue(isStoreDown);
  /** The days as this process wrote them last. */
  readonly #known = new LRUCache<string, Stored>({ max: MAX_KNOWN });

  constructor(collection: BoundedCollection<Stored>) {
    this.#collection = collection;
  }

  /** @param none the day before its first change. */
  change(none: Stored, edit: (before: Stored) => Stored): Promise<Stored> {
    const { _id } = none;
    return this.#queue.run(_id, async () => {
      const guess = this.#known.get(_id) ?? none;
      this.#known.delete(_id);
      const after =
        (await this.#write(guess, edit(guess))) ??
        (await compareAndSet("these counts", async () => {
          const before = (await this.#collection.findOne({ _id } as Filter<Stored>)) ?? none;
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
        ? this.#collection.insertIfAbsent(after as OptionalUnlessRequiredId<Stored>)
        : this.#collection.replaceOne({ _id: before._id, version: before.version } as Filter<Stored>, after);
    return (await written) ? after : undefined;
  }
}

const NONE: Counts = { messages: 0, new_addresses: 0, opted_out: 0, bounced: 0 };

export function sum(one: Counts = NONE, other: Partial<Counts>): Counts {
  const total = (name: keyof Counts) => one[name] + (other[name] ?? 0);
  return {
    messages: total("messages"),
    new_addresses: total("new_addresses"),
    opted_out: total("opted_out"),
    bounced: total("bounced"),
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
