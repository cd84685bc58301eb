import type { AccountStore } from "../accounts/store.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import { grouped } from "../infra/grouped.ts";
import { pacedReads } from "../infra/paced-reads.ts";
import { isSurface, SURFACES } from "../limiter/surfaces.ts";
import { invalid } from "../problems.ts";
import type { UsageReport, UsageRow } from "./schema.ts";
import type { Usage, UsageStore } from "./store.ts";
import { HOUR_MS, type Sum, sumOf } from "./sum.ts";

/** Hours that are kept. */
export const KEPT_HOURS = 30 * 24;
/** Minimum time between two reads for clients of one account, in milliseconds. They are free, so they need a bound. */
const READ_EVERY_MS = 1_000;
/** Accounts that `top` lists. */
const MAX_LISTED = 50;

/** What an account used and was refused in some hours. */
interface AccountUsage extends Sum {
  readonly account_id: string;
  readonly name: string;
}

/** Reports what the processes have counted. It is up to a minute old. Every method may throw problem store_unavailable. */
export class UsageService {
  readonly #store: UsageStore;
  readonly #accounts: Pick<AccountStore, "get" | "pages">;
  readonly #clock: Clock;
  readonly #paced = pacedReads<UsageReport>(READ_EVERY_MS);

  constructor(store: UsageStore, accounts: Pick<AccountStore, "get" | "pages">, clock: Clock) {
    this.#store = store;
    this.#accounts = accounts;
    this.#clock = clock;
  }

  /** Returns the current hour and the 24 before it. All callers of an account within a second share one read. */
  lastDay(accountId: string): Promise<UsageReport> {
    return this.#paced(accountId, async () => {
      const { from, to } = this.#last(24);
      const data = rowsOf(await this.#store.find([accountId], from, to));
      return { object: "usage", account_id: accountId, from: startOf(from), to: startOf(to), data };
    });
  }

  /** Returns the current hour and as many `hours` before it. @throws problem `not_found`; `validation_failed` for hours. */
  async of(accountId: string, hours: number): Promise<UsageRow[]> {
    const { from, to } = this.#last(hours);
    await this.#accounts.get(accountId);
    return rowsOf(await this.#store.find([accountId], from, to));
  }

  /**
   * Returns the accounts that were refused most in the current hour and as many `hours` before it, then those that used
   * most. Reads the accounts by hundreds, with two round trips for each. @throws problem `validation_failed`
   */
  async top(hours: number, surface?: string): Promise<AccountUsage[]> {
    const { from, to } = this.#last(hours);
    if (surface !== undefined && !isSurface(surface))
      throw invalid("/surface", `must be one of ${SURFACES.join(", ")}`);
    let top: AccountUsage[] = [];
    for await (const accounts of this.#accounts.pages()) {
      const ids = accounts.map(({ _id }) => _id);
      const counted = (await this.#store.find(ids, from, to)).filter(
        (usage) => (surface ?? usage.surface) === usage.surface,
      );
      const byAccount = grouped(counted, ({ account }) => account);
      const totals = accounts.flatMap(({ _id: account_id, name }) => {
        const usage = byAccount.get(account_id);
        return usage === undefined ? [] : { account_id, name, ...sumOf(usage) };
      });
      top = [...top, ...totals].toSorted((a, b) => b.refused - a.refused || b.used - a.used).slice(0, MAX_LISTED);
    }
    return top;
  }

  #last(hours: number): { from: number; to: number } {
    if (!Number.isInteger(hours) || hours < 1 || hours > KEPT_HOURS)
      throw invalid("/hours", `must be a whole number from 1 to ${KEPT_HOURS}`);
    const to = Math.floor(this.#clock.now() / HOUR_MS);
    return { from: to - hours, to };
  }
}

function startOf(hour: number): string {
  return timestamp(hour * HOUR_MS);
}

/** Adds up what the processes counted. */
function rowsOf(counted: readonly Usage[]): UsageRow[] {
  const rows = grouped(counted, ({ hour, surface, keyId }) => `${hour} ${SURFACES.indexOf(surface)} ${keyId}`);
  return [...rows]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, usage]) => {
      const { hour, surface, keyId } = usage[0]!;
      return { hour: startOf(hour), surface, key_id: keyId, ...sumOf(usage) };
    });
}
