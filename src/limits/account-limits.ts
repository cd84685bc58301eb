import type { AccountStore } from "../accounts/store.ts";
import { readUsage, type UsageOptions } from "../limiter/usage.ts";
import { resetOf, viewLiveGrant } from "./view.ts";

/** The limits of an account as operators see them: its own, then those of each key. */
export type AccountLimits = Awaited<ReturnType<typeof readAccountLimits>>;

/** Returns what an account and its keys have used. @throws problem `not_found`, `store_unavailable`, `limiter_unavailable` */
export async function readAccountLimits(options: UsageOptions, accounts: Pick<AccountStore, "get">, accountId: string) {
  const { name, status, keys } = await accounts.get(accountId);
  const read = (keyId: string) => readUsage(options, { accountId, keyId });
  const live = keys.filter((key) => key.revoked_at === null);
  const used = await Promise.all(live.map(async (key) => ({ key, usage: await read(key.id) })));
  // Redis ran the reads in order, so the last one is the newest. An account without keys has windows too.
  const newest = used.at(-1)?.usage ?? (await read("none"));
  return {
    object: "account_limits" as const,
    account_id: accountId,
    name,
    status,
    window_seconds: options.windowSeconds,
    surfaces: newest.surfaces.map(({ surface, account }) => ({ surface, account, ...resetOf(newest) })),
    keys: used.map(({ key: { id, name: keyName }, usage }) => {
      const surfaces = usage.surfaces.map(({ surface, key }) => ({ surface, key, ...resetOf(usage) }));
      return { id, name: keyName, status: "active" as const, surfaces, grants: usage.grants.map(viewLiveGrant) };
    }),
  };
}
