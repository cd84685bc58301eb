import type { KeyRecord } from "../accounts/account.ts";
import type { Caller } from "../accounts/caller.ts";
import type { AccountStore } from "../accounts/store.ts";
import { timestamp } from "../infra/clock.ts";
import { secondsToReset } from "../limiter/headers.ts";
import type { Limits, LiveGrant, SurfaceLimits } from "./schema.ts";
import { type SurfaceUsage, type Usage, usage, type UsageOptions } from "../limiter/usage.ts";

/** The limits of a whole account, as operators see them: the account's own, then each key's. */
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
  status: "active" | "revoked";
  surfaces: Omit<SurfaceLimits, "account">[];
  grants: LiveGrant[];
}

/** Where limits stand, read without charging. */
export class LimitsService {
  readonly #usage: UsageOptions;
  readonly #accounts: Pick<AccountStore, "get">;

  constructor(usageOptions: UsageOptions, accounts: Pick<AccountStore, "get">) {
    this.#usage = usageOptions;
    this.#accounts = accounts;
  }

  /** Every surface of the caller's account and key, and the key's live grants. One round trip. @throws problem `limiter_unavailable` */
  async read(caller: Caller): Promise<Limits> {
    const { surfaces, grants, nowMs } = await usage(this.#usage, caller);
    return {
      object: "limits",
      account_id: caller.accountId,
      key_id: caller.keyId,
      window_seconds: this.#usage.windowSeconds,
      surfaces: surfaces.map(({ surface, account, key, resetMs }) => ({ surface, account, key, ...resetOf(resetMs, nowMs) })),
      grants: grants.map(viewLiveGrant),
    };
  }

  /**
   * The same of an account and every key that is not revoked. Two round trips, however many keys.
   * @throws problem `not_found`, `store_unavailable`, `limiter_unavailable`.
   */
  async ofAccount(accountId: string): Promise<AccountLimits> {
    const account = await this.#accounts.get(accountId);
    const keys = account.keys.filter((key) => key.revoked_at === null);
    // An account without keys has windows too: they are read with a key that nobody has.
    const callers = keys.length > 0 ? keys.map(({ id }) => ({ accountId, keyId: id })) : [{ accountId, keyId: "none" }];
    const usages = await Promise.all(callers.map((caller) => usage(this.#usage, caller)));
    const last = usages.at(-1); // they ran one after the other: the last has counted most
    return {
      object: "account_limits",
      account_id: accountId,
      name: account.name,
      status: account.status,
      window_seconds: this.#usage.windowSeconds,
      surfaces: last?.surfaces.map((surface) => ofAccount(surface, last.nowMs)) ?? [],
      keys: keys.flatMap((key, index) => viewKeyLimits(key, usages[index])),
    };
  }
}

function viewKeyLimits({ id, name }: KeyRecord, found: Usage | undefined): KeyLimits[] {
  if (found === undefined) return [];
  const { surfaces, grants, nowMs, standing } = found;
  const own = surfaces.map(({ surface, key, resetMs }) => ({ surface, key, ...resetOf(resetMs, nowMs) }));
  return [{ id, name, status: standing === "revoked" ? "revoked" : "active", surfaces: own, grants: grants.map(viewLiveGrant) }];
}

function ofAccount({ surface, account, resetMs }: SurfaceUsage, nowMs: number): Omit<SurfaceLimits, "key"> {
  return { surface, account, ...resetOf(resetMs, nowMs) };
}

function resetOf(resetMs: number, nowMs: number): Pick<SurfaceLimits, "reset" | "reset_at"> {
  return { reset: secondsToReset({ resetMs }), reset_at: timestamp(nowMs + resetMs) };
}

function viewLiveGrant({ id, amount, remaining, expiresAtMs }: Usage["grants"][number]): LiveGrant {
  return { object: "grant", id, surface: "create", amount, remaining, expires_at: timestamp(expiresAtMs) };
}
