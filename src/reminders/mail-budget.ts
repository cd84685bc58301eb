import { createHash } from "node:crypto";
import type { CandidateKey, Hold } from "../candidates/record.ts";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import { timestamp } from "../infra/clock.ts";
import { grouped } from "../infra/grouped.ts";
import type { Mongo } from "../infra/mongo.ts";
import { type AccountDay, counted, type Counts, inHour, isPending, MailDays, settled, sum } from "./mail-day-store.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Number of keys that are kept of an address's latest messages. Each may be asked for again after a crash. */
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
  /** False if an earlier version of the service counted a message to it, and did not claim it. */
  written: boolean;
  /** The message that was claimed while the address was new. If it was not sent, the address is new again. */
  key: string;
}

/** One message to be sent. */
export interface Ask extends CandidateKey {
  /** Names this message and this try: equal if it is asked for again after a crash. */
  readonly key: string;
  /** The address's hash. */
  readonly address: string;
}

/** A message that is counted. */
export interface Reservation extends Ask {
  /** Days since 1970-01-01. */
  readonly day: number;
  /** 0 to 23. */
  readonly hour: number;
  readonly isNew: boolean;
}

/**
 * Counts messages before they are sent. Each count is a compare-and-set, which also notes the message's key. So no number of
 * replicas exceeds a limit, and a message that is asked for again after a crash counts once. Every method may throw problem
 * store_unavailable.
 */
export class MailBudget {
  readonly days: MailDays;
  readonly #known: BoundedCollection<KnownAddress>;

  constructor(mongo: Mongo) {
    this.days = new MailDays(mongo);
    this.#known = new BoundedCollection(mongo, "mail_addresses");
  }

  /**
   * Counts a message, if every limit allows it. Do not ask for two messages of an account to one address at once: both would
   * count as the first. Three round trips for the first message of a day to an address, at most seven.
   * @param budget names the account's limits, for the hold.
   * @param now milliseconds since the epoch.
   * @returns the reservation, or the hold if a limit is used up. Nothing is counted then.
   */
  async reserve(ask: Ask, limits: MailLimits, budget: string, now: number): Promise<Reservation | Hold> {
    const { day, hour } = hourOf(now);
    const until = timestamp((day + 1) * DAY_MS);
    if (!(await this.#countAddress(ask, day, limits.perAddress))) return { until, budget: null };
    const isNew = !(await this.#isKnown(ask));
    const reservation = { ...ask, day, hour, isNew };
    if (await this.#countAccount(reservation, limits, timestamp(now))) return reservation;
    await this.#uncountAddress(reservation);
    return { until, budget };
  }

  /** Notes that the message was claimed: from now on its address is not new. One round trip, or none. */
  async claimed({ accountId, address, key, isNew }: Reservation): Promise<void> {
    if (isNew) await this.know(accountId, address, key);
  }

  /**
   * Takes back the count of a message that was not sent. Its address is new again if it was: else a message that the mail
   * server refused for the moment would evade the limit on new addresses. Two to six round trips.
   */
  async release(reservation: Reservation): Promise<void> {
    const { accountId, address, key, day, hour, isNew } = reservation;
    await this.#uncountAddress(reservation);
    if (isNew) await this.#known.deleteOne({ _id: `${accountId}/${address}`, key });
    await this.days.changeAccount(accountId, day, (before) =>
      isPending(before, key) ? settled(counted(before, hour, -1, isNew), key) : before,
    );
  }

  /** Notes what became of messages that were sent. One to three round trips for each account. */
  async settled(all: readonly (Reservation & { readonly isBounced: boolean })[]): Promise<void> {
    const days = grouped(all, ({ accountId, day }) => `${accountId}/${day}`).values();
    const settle = (before: AccountDay, { key, hour, isBounced }: (typeof all)[number]) =>
      settled(isBounced ? inHour(before, hour, { bounced: 1 }) : before, key);
    await Promise.all(
      Array.from(days, (sent) =>
        this.days.changeAccount(sent[0]!.accountId, sent[0]!.day, (before) => sent.reduce(settle, before)),
      ),
    );
  }

  /** Notes that somebody wants no more messages from an account. Two round trips. @param now milliseconds since the epoch. */
  async optedOut(accountId: string, now: number): Promise<void> {
    const { day, hour } = hourOf(now);
    await this.days.changeAccount(accountId, day, (before) => inHour(before, hour, { opted_out: 1 }));
  }

  /**
   * Returns what each account sent from an hour on, the most first. One round trip.
   * @param from a time in that hour, in milliseconds since the epoch.
   */
  async since(from: number): Promise<(Counts & { readonly accountId: string })[]> {
    const first = hourOf(from);
    const sums = new Map<string, Counts>();
    for (const { account, day, hours } of await this.days.since(first.day))
      for (const [hour, counts] of Object.entries(hours))
        if (day > first.day || Number(hour) >= first.hour) sums.set(account, sum(sums.get(account), counts));
    const all = Array.from(sums, ([accountId, counts]) => ({ accountId, ...counts }));
    return all.toSorted((one, other) => other.messages - one.messages);
  }

  /**
   * Notes that an account has written to an address. One round trip.
   * @param address its hash. @param key the message; empty if it was sent already.
   */
  async know(accountId: string, address: string, key = ""): Promise<void> {
    await this.#known.updateOne({ _id: `${accountId}/${address}` }, { $set: { written: true, key } }, { upsert: true });
  }

  /** Forgets that an account wrote to these addresses. One round trip, or none. @param addresses hashes. */
  async forgetAddresses(accountId: string, addresses: readonly string[]): Promise<void> {
    if (addresses.length === 0) return;
    await this.#known.deleteMany({ _id: { $in: addresses.map((address) => `${accountId}/${address}`) } });
  }

  /** Returns false if the limit is used up. */
  async #countAddress({ address, key }: Ask, day: number, limit: number): Promise<boolean> {
    const name = hashOf(key);
    const after = await this.days.changeAddress(day, address, (before) =>
      before.pending.includes(name) || before.messages >= limit
        ? before
        : { ...before, messages: before.messages + 1, pending: [...before.pending, name].slice(-MAX_KEYS) },
    );
    return after.pending.includes(name);
  }

  async #uncountAddress({ address, key, day }: Reservation): Promise<void> {
    const name = hashOf(key);
    await this.days.changeAddress(day, address, (before) =>
      before.pending.includes(name)
        ? { ...before, messages: before.messages - 1, pending: before.pending.filter((each) => each !== name) }
        : before,
    );
  }

  /** Returns whether the account has written to the address. */
  async #isKnown({ accountId, address }: Ask): Promise<boolean> {
    const found = await this.#known.findOne({ _id: `${accountId}/${address}` });
    return found?.written ?? false;
  }

  /** Returns false if a limit is used up. */
  async #countAccount(reservation: Reservation, limits: MailLimits, at: string): Promise<boolean> {
    const { accountId, id, key, address, day, hour, isNew } = reservation;
    const after = await this.days.changeAccount(accountId, day, (before) => {
      const isOver = before.messages >= limits.perAccount || (isNew && before.new_addresses >= limits.newAddresses);
      if (isOver || isPending(before, key)) return before;
      const pending = [...before.pending, { key, candidate: id, address, at }];
      return { ...counted(before, hour, 1, isNew), pending };
    });
    return isPending(after, key);
  }
}

/** Returns what an address's day keeps of a message's key, which has the candidate's id. */
function hashOf(key: string): string {
  return createHash("sha256").update(key).digest("base64url").slice(0, 22);
}

/** Returns the UTC day of a time, in days since 1970-01-01, and its hour. @param now milliseconds since the epoch. */
export function hourOf(now: number): { day: number; hour: number } {
  const day = Math.floor(now / DAY_MS);
  return { day, hour: Math.floor((now - day * DAY_MS) / HOUR_MS) };
}
