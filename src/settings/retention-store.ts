import { BoundedCollection } from "../infra/bounded-collection.ts";
import { type Clock, HOUR_MS } from "../infra/clock.ts";
import type { Mongo } from "../infra/mongo.ts";
import type { EraseAfterDays } from "./schema.ts";
import { recordOf, type SettingsRecord, SettingsStore, type Stored } from "./store.ts";

/** Maximum time for which a process uses rules that another one has changed, in milliseconds, and what a read takes. */
const KEPT_MS = 10_000;

export type RetentionValues = Readonly<{ erase_after_days: Partial<EraseAfterDays> }>;

/** When an account's candidates are erased without a request. Times are milliseconds. */
export interface RetentionRules {
  readonly days: EraseAfterDays;
  readonly changedAt: number;
  /** Time between a change, of the rules or by somebody of the candidate, and the first erasure that may follow from it. */
  readonly noticeMs: number;
}

/** An account's rules, and the feed position up to which its candidates follow them. */
export type SetRules = RetentionRules & Readonly<{ accountId: string; version: number; refreshed: string }>;

const NEVER: EraseAfterDays = { completed: null, withdrawn: null, inactive: null };
export const NO_RULES: RetentionRules = { days: NEVER, changedAt: 0, noticeMs: 0 };

/**
 * The rules of retention. Those of all accounts that have set any are kept in memory: few have, and every write of a candidate
 * needs them. Every method but `of` and `watch` may throw problem store_unavailable.
 */
export class RetentionStore {
  readonly settings: SettingsStore<RetentionValues>;
  readonly #stored: BoundedCollection<Stored & { refreshed?: string }>;
  readonly noticeMs: number;
  #known = new Map<string, RetentionRules>();

  constructor(mongo: Mongo, clock: Clock, noticeHours: number) {
    this.settings = new SettingsStore(mongo, clock, "retention_settings");
    this.#stored = new BoundedCollection(mongo, "retention_settings");
    this.noticeMs = noticeHours * HOUR_MS;
  }

  /** Returns rules that are up to KEPT_MS old. No round trip. */
  readonly of = (accountId: string): RetentionRules => this.#known.get(accountId) ?? NO_RULES;

  /** Reads an account's rules. From then on, `of` returns them. */
  async fresh(accountId: string): Promise<RetentionRules> {
    const rules = this.#rulesOf(await this.settings.get(accountId));
    this.#known.set(accountId, rules);
    return rules;
  }

  /** Reads the rules of all accounts that have ever set any. From then on, `of` returns them. */
  async all(): Promise<SetRules[]> {
    const all = (await this.#stored.find({})).map(({ _id: accountId, refreshed = "", ...stored }) => {
      return { accountId, version: stored.version, refreshed, ...this.#rulesOf(recordOf(stored)) };
    });
    this.#known = new Map(all.map((each) => [each.accountId, each]));
    return all;
  }

  /** Reads all rules every KEPT_MS. Returns what ends that. */
  watch(): () => void {
    const timer = setInterval(() => void this.all().catch(() => undefined), KEPT_MS).unref();
    return () => clearInterval(timer);
  }

  /** Notes that the candidates up to a feed position follow the rules, unless they have changed again: that forgets it. */
  async noteRefreshed({ accountId, version }: SetRules, refreshed: string): Promise<void> {
    await this.#stored.updateOne({ _id: accountId, version }, { $set: { refreshed } });
  }

  #rulesOf({ values, updated_at }: SettingsRecord<RetentionValues>): RetentionRules {
    const changedAt = updated_at === null ? 0 : Date.parse(updated_at);
    return { days: daysOf(values), changedAt, noticeMs: this.noticeMs };
  }
}

export function daysOf({ erase_after_days }: Partial<RetentionValues>): EraseAfterDays {
  return { ...NEVER, ...erase_after_days };
}
