import type { KeyRecord } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/store.ts";
import { readUsage, type Usage, type UsageOptions } from "../limiter/usage.ts";
import type { LiveGrant, SurfaceLimits } from "./schema.ts";
import { resetOf, viewLiveGrant } from "./view.ts";

/** The limits of an account as operators see them: its own, then those of each key. */
export interface AccountLimits {
  object: "account_limits";
  account_id: string;
  name: string;
  status: "active" | "suspended";
  window_seconds: number;
  surfaces: Omit<SurfaceLimits, "key">[];
  keys: KeyLimits[];
}

export interface KeyLimits {
  id: string;
  name: string;
  status: "active";
  surfaces: Omit<SurfaceLimits, "account">[];
  grants: LiveGrant[];
}

/**
 * Returns what an account, and each of its keys that is not revoked, have used of their limits. Charges nothing.
 * @throws problem `not_found`, `store_unavailable`, `limiter_unavailable`.
 */
export async function readAccountLimits(
  options: UsageOptions,
  accounts: Pick<AccountStore, "get">,
  accountId: string,
): Promise<AccountLimits> {
  const account = await accounts.get(accountId);
  const keys = account.keys.filter((key) => key.revoked_at === null);
  // An account without keys has windows too. Read them with a key id that does not exist.
  const callers = keys.length > 0 ? keys.map(({ id }) => ({ accountId, keyId: id })) : [{ accountId, keyId: "none" }];
  const usages = await Promise.all(callers.map((caller) => readUsage(options, caller)));
  const last = usages.at(-1); // Redis ran the reads in order, so the last one is the newest
  return {
    object: "account_limits",
    account_id: accountId,
    name: account.name,
    status: account.status,
    window_seconds: options.windowSeconds,
    surfaces: last?.surfaces.map(({ surface, account: own }) => ({ surface, account: own, ...resetOf(last) })) ?? [],
    keys: keys.flatMap((key, index) => viewKeyLimits(key, usages[index])),
  };
}

function viewKeyLimits({ id, name }: KeyRecord, used: Usage | undefined): KeyLimits[] {
  if (used === undefined) return [];
  const { surfaces, grants } = used;
  const own = surfaces.map(({ surface, key }) => ({ surface, key, ...resetOf(used) }));
  return [{ id, name, status: "active", surfaces: own, grants: grants.map(viewLiveGrant) }];
}
