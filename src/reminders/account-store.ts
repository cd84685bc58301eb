import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Mongo } from "../infra/mongo.ts";

/** What reminders know of an account besides its settings. Timestamps are RFC 3339. */
interface Stored {
  _id: string;
  /** When an operator paused its reminders. Null or absent if they are not paused. */
  paused_at?: string | null;
  /** The latest raise of its budget. Null or absent if there was none. */
  raise?: Raise | null;
  /** When settings of reminders were last changed, or were about to be. Absent once every plan follows them. */
  changed_at?: string;
}

/** More messages a day for one account, until a time. RFC 3339. */
export interface Raise {
  readonly per_day: number;
  readonly new_per_day: number;
  readonly expires_at: string;
  readonly approved_by: string;
  readonly reason: string;
}

/**
 * A change of settings stays noted for at least this long, in milliseconds. A write that began before it may still follow the
 * old ones: for the age of the rules that it used, and the time that it takes.
 */
export const SETTLED_MS = 60_000;

/** Covers all accounts: the sweep looks for those whose settings have changed. */
const CHANGED = { key: { changed_at: 1 }, partialFilterExpression: { changed_at: { $gt: "" } } };

/**
 * Which accounts an operator has paused or given more messages, and whose settings have changed. Every method may throw
 * problem store_unavailable.
 */
export class ReminderAccountStore {
  readonly indexes = [{ collection: "outreach_accounts", indexes: [CHANGED] }];
  readonly #accounts: BoundedCollection<Stored>;

  constructor(mongo: Mongo) {
    this.#accounts = new BoundedCollection(mongo, "outreach_accounts");
  }

  async get(accountId: string) {
    const { paused_at, raise, changed_at } = (await this.#accounts.findOne({ _id: accountId })) ?? {};
    return { pausedAt: paused_at ?? null, raise: raise ?? null, isChanged: changed_at !== undefined };
  }

  /**
   * Notes that settings of reminders are about to change, so that the plans that follow them are updated.
   * @param values what an operator changes.
   */
  async noteChange(accountId: string, now: string, values: Pick<Stored, "paused_at" | "raise"> = {}): Promise<void> {
    await this.#accounts.updateOne({ _id: accountId }, { $set: { ...values, changed_at: now } }, { upsert: true });
  }

  /** Returns accounts whose settings have changed, the longest ago first. */
  async changed(limit: number): Promise<{ accountId: string; changedAt: string }[]> {
    const found = await this.#accounts.find({ changed_at: { $gt: "" } }, { sort: { changed_at: 1 }, limit });
    return found.map(({ _id, changed_at }) => ({ accountId: _id, changedAt: changed_at ?? "" }));
  }

  /** Notes that every plan of the account follows its settings, unless they have changed again. */
  async settled(accountId: string, changedAt: string): Promise<void> {
    await this.#accounts.updateOne({ _id: accountId, changed_at: changedAt }, { $unset: { changed_at: "" } });
  }
}
