import type { AccountStore } from "../accounts/store.ts";
import { type Clock, HOUR_MS, timestamp } from "../infra/clock.ts";
import { pacedReads } from "../infra/paced-reads.ts";
import { isSurface, SURFACES } from "../limiter/surfaces.ts";
import { invalid, wholeNumber } from "../problems.ts";
import type { UsageReport, UsageRow } from "./schema.ts";
import { KEPT_HOURS, sumBy, type UsageStore } from "./store.ts";

/** Minimum time between two reads for clients of one account, in milliseconds. They are free, so they need a bound. */
const READ_EVERY_MS = 1_000;
/** Accounts that `top` lists. */
const MAX_LISTED = 50;

export type UsageService = ReturnType<typeof usageService>;

/** Reports what the processes have counted. It is up to a minute old. Every method may throw problem store_unavailable. */
export function usageService(store: UsageStore, accounts: Pick<AccountStore, "get">, clock: Clock) {
  const paced = pacedReads<UsageReport>(READ_EVERY_MS);
  const startOf = (hour: number) => timestamp(hour * HOUR_MS);

  function last(hours: number): { from: number; to: number } {
    const to = Math.floor(clock.now() / HOUR_MS);
    return { from: to - wholeNumber("/hours", hours, 1, KEPT_HOURS), to };
  }

  async function rows(accountId: string, { from, to }: ReturnType<typeof last>): Promise<UsageRow[]> {
    const usage = await store.ofAccount(accountId, from, to);
    return usage.map(({ account: _account, hour, ...row }) => ({ hour: startOf(hour), ...row }));
  }

  return {
    /** Returns the usage of the current hour and the 24 before it. All callers of an account within a second share one read. */
    lastDay: (accountId: string): Promise<UsageReport> =>
      paced(accountId, async () => {
        const day = last(24);
        const data = await rows(accountId, day);
        return { object: "usage", account_id: accountId, from: startOf(day.from), to: startOf(day.to), data };
      }),

    /** Returns the usage of the current hour and as many `hours` before it. @throws problem `not_found`; `validation_failed` for hours. */
    async of(accountId: string, hours: number) {
      const asked = last(hours);
      await accounts.get(accountId);
      return { object: "list", data: await rows(accountId, asked) };
    },

    /**
     * Returns 50 accounts, from the current hour and as many `hours` before it. Those that were refused most come first, then
     * those that used most. One round trip for each hour and each account. @throws problem `validation_failed`
     */
    async top(hours: number, surface?: string) {
      const { from, to } = last(hours);
      if (surface !== undefined && !isSurface(surface))
        throw invalid("/surface", `must be one of ${SURFACES.join(", ")}`);
      let totals: Awaited<ReturnType<UsageStore["inHour"]>> = [];
      for (let hour = from; hour <= to; hour++)
        totals = sumBy([...totals, ...(await store.inHour(hour, surface))], ({ _id }) => _id);
      const top = totals.toSorted((a, b) => b.refused - a.refused || b.used - a.used).slice(0, MAX_LISTED);
      const named = top.map(async ({ _id, ...sums }) => {
        return { account_id: _id, name: (await accounts.get(_id, { evenErased: true })).name, ...sums };
      });
      return { object: "list", data: await Promise.all(named) };
    },
  };
}
