import { createHash } from "node:crypto";
import type { CandidateKey, Hold } from "../candidates/record.ts";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import { DAY_MS, HOUR_MS, timestamp } from "../infra/clock.ts";
import { grouped } from "../infra/grouped.ts";
import type { Mongo } from "../infra/mongo.ts";
import type { AccountDay, AddressDay, Counts } from "./mail-day-store.ts";
import { counted, DayStore, inHour, isPending, settled, sum } from "./mail-day-store.ts";

/** Number of keys that are kept of an address's latest messages. Each may be counted again after a crash. */
const MAX_KEYS = 20;

/** Messages in a UTC day. */
export interface MailLimits {
  readonly perAccount: number;
  /** Messages of an account to addresses that it has never written to. */
  readonly newAddresses: number;
  /** Messages to one address, from all accounts together. */
  readonly perAddress: number;
}

/** An address that an account has written to. */
interface KnownAddress {
  /** The account and the address's hash. */
  _id: string;
  /** The message that was claimed while the address was new. If it was not sent, the address is new again. */
  key: string;
}

/** A message that is about to be sent. */
interface NextMessage extends CandidateKey {
  /** Names this message and this try: equal if it is counted again after a crash. */
  readonly key: string;
  /** The address's hash. */
  readonly address: string;
}

export interface CountedMessage extends NextMessage {
  /** Days since 1970-01-01. */
  readonly day: number;
  /** 0 to 23. */
  readonly hour: number;
  readonly isNew: boolean;
}

type SettledMessage = Pick<CountedMessage, "accountId" | "key" | "day" | "hour"> & { readonly isBounced: boolean };

export type MailBudget = ReturnType<typeof mailBudget>;

/**
 * Counts messages before they are sent. Each count is a compare-and-set, which also notes the message's key. So no number of
 * replicas exceeds a limit, and a message that is counted again after a crash counts once. Addresses are hashes, times
 * milliseconds since the epoch. Every method may throw problem store_unavailable.
 */
export function mailBudget(mongo: Mongo) {
  const accounts = new DayStore<AccountDay>(mongo, "mail_account_days");
  const addresses = new DayStore<AddressDay>(mongo, "mail_address_days");
  const known = new BoundedCollection<KnownAddress>(mongo, "mail_addresses");
  const pendingIndex = { key: { pending_since: 1 }, partialFilterExpression: { pending_since: { $gt: "" } } };

  /** Returns false if the limit is used up. */
  async function countAddress({ address, key }: NextMessage, day: number, limit: number): Promise<boolean> {
    const name = hashOf(key);
    const after = await changeAddress(address, day, (before) =>
      before.pending.includes(name) || before.messages >= limit
        ? before
        : { ...before, messages: before.messages + 1, pending: [...before.pending, name].slice(-MAX_KEYS) },
    );
    return after.pending.includes(name);
  }

  async function uncountAddress({ address, key, day }: CountedMessage): Promise<void> {
    const name = hashOf(key);
    await changeAddress(address, day, (before) =>
      before.pending.includes(name)
        ? { ...before, messages: before.messages - 1, pending: before.pending.filter((each) => each !== name) }
        : before,
    );
  }

  /** Returns false if a limit is used up. */
  async function countAccount(message: CountedMessage, limits: MailLimits, at: string): Promise<boolean> {
    const { accountId, id, key, address, day, hour, isNew } = message;
    const after = await changeAccount(accountId, day, (before) => {
      const isOver = before.messages >= limits.perAccount || (isNew && before.new_addresses >= limits.newAddresses);
      if (isOver || isPending(before, key)) return before;
      return { ...counted(before, hour, 1, isNew), pending: [...before.pending, { key, candidate: id, address, at }] };
    });
    return isPending(after, key);
  }

  function changeAccount(account: string, day: number, edit: (before: AccountDay) => AccountDay): Promise<AccountDay> {
    const none = { messages: 0, new_addresses: 0, hours: {}, pending: [], pending_since: null };
    return accounts.change({ _id: `${account}/${day}`, version: 0, account, day, ...none }, (before) => {
      const edited = edit(before);
      return edited === before ? before : { ...edited, pending_since: edited.pending[0]?.at ?? null };
    });
  }

  function changeAddress(address: string, day: number, edit: (before: AddressDay) => AddressDay): Promise<AddressDay> {
    return addresses.change({ _id: `${address}/${day}`, version: 0, day, messages: 0, pending: [] }, edit);
  }

  return {
    indexes: [
      { collection: "mail_account_days", indexes: [{ key: { day: 1 } }, pendingIndex] },
      { collection: "mail_address_days", indexes: [{ key: { day: 1 } }] },
    ],

    /**
     * Counts a message, if every limit allows it. Do not count two messages of an account to one address at once: both would
     * count as the first.
     * @param budget names the account's limits, for the hold.
     * @returns the hold if a limit is used up. Nothing is counted then.
     */
    async count(message: NextMessage, limits: MailLimits, budget: string, now: number): Promise<CountedMessage | Hold> {
      const { day, hour } = hourOf(now);
      const until = timestamp((day + 1) * DAY_MS);
      if (!(await countAddress(message, day, limits.perAddress))) return { until, budget: null };
      const found = await known.findOne({ _id: `${message.accountId}/${message.address}` });
      const result = { ...message, day, hour, isNew: found === null };
      if (await countAccount(result, limits, timestamp(now))) return result;
      await uncountAddress(result);
      return { until, budget };
    },

    /** Notes that the message was claimed: from now on its address is not new. */
    async claimed({ accountId, address, key, isNew }: CountedMessage): Promise<void> {
      if (isNew) await known.updateOne({ _id: `${accountId}/${address}` }, { $set: { key } }, { upsert: true });
    },

    /**
     * Takes back the count of a message that was not sent. Its address is new again if it was: else a message that the mail
     * server refused for the moment would evade the limit on new addresses.
     */
    async uncount(message: CountedMessage): Promise<void> {
      const { accountId, address, key, day, hour, isNew } = message;
      await uncountAddress(message);
      if (isNew) await known.deleteOne({ _id: `${accountId}/${address}`, key });
      await changeAccount(accountId, day, (before) =>
        isPending(before, key) ? settled(counted(before, hour, -1, isNew), key) : before,
      );
    },

    /** Notes what became of messages that were sent. One write for each account and day. */
    async settle(all: readonly SettledMessage[]): Promise<void> {
      const days = grouped(all, ({ accountId, day }) => `${accountId}/${day}`).values();
      const without = (before: AccountDay, { key, hour, isBounced }: SettledMessage) =>
        settled(isBounced ? inHour(before, hour, { bounced: 1 }) : before, key);
      const settleDay = (sent: readonly SettledMessage[]) =>
        changeAccount(sent[0]!.accountId, sent[0]!.day, (before) => sent.reduce(without, before));
      await Promise.all(Array.from(days, settleDay));
    },

    optedOut(accountId: string, now: number) {
      const { day, hour } = hourOf(now);
      return changeAccount(accountId, day, (before) => inHour(before, hour, { opted_out: 1 }));
    },

    /** Returns what each account sent from an hour on, the most first. @param from a time in that hour. */
    async since(from: number) {
      const first = hourOf(from);
      const sums = new Map<string, Counts>();
      for (const { account, day, hours } of await accounts.collection.find({ day: { $gte: first.day } }))
        for (const [hour, counts] of Object.entries(hours))
          if (day > first.day || Number(hour) >= first.hour) sums.set(account, sum(sums.get(account), counts));
      const all = Array.from(sums, ([accountId, counts]) => ({ accountId, ...counts }));
      return all.toSorted((one, other) => other.messages - one.messages);
    },

    /** Returns the messages that were sent today: by all accounts together, and by the one that sent the most. */
    async total(now: number) {
      const today = { day: { $gte: hourOf(now).day } };
      const found = await accounts.collection.find(today, { projection: { messages: 1 } });
      const counts = found.map(({ messages }) => messages);
      return { messages: counts.reduce((total, count) => total + count, 0), largest: Math.max(0, ...counts) };
    },

    /** Returns days with messages that were counted before that time and never settled. @param before RFC 3339. */
    pendingSince: (before: string, limit: number) =>
      accounts.collection.find({ pending_since: { $gt: "", $lt: before } }, { limit }),

    /** Removes the counts of the days before that time. Returns their number. */
    async removeBefore(time: number) {
      const old = { day: { $lt: hourOf(time).day } };
      return (await accounts.collection.deleteMany(old)) + (await addresses.collection.deleteMany(old));
    },

    async forgetAddresses(accountId: string, those: readonly string[]): Promise<void> {
      if (those.length > 0) await known.deleteMany({ _id: { $in: those.map((address) => `${accountId}/${address}`) } });
    },
  };
}

/** Returns what an address's day keeps of a message's key, which has the candidate's id. */
function hashOf(key: string): string {
  return createHash("sha256").update(key).digest("base64url").slice(0, 22);
}

/** Returns the UTC day of a time, in days since 1970-01-01, and its hour. */
export function hourOf(time: number): { day: number; hour: number } {
  const day = Math.floor(time / DAY_MS);
  return { day, hour: Math.floor((time - day * DAY_MS) / HOUR_MS) };
}
