import { problem } from "../problems.ts";
import type { AccountStore } from "./store.ts";

/** Each command that comes in between costs one attempt. In a Cluster whose clocks are minutes apart, each one is too late. */
const MAX_ATTEMPTS = 8;

/** The end of the problem's text if Redis knows a newer version than the store. */
export const IF_RESTORED = "If MongoDB was restored from a backup, run `admin accounts announce`.";

/** The versions of accounts in Redis, which every replica obeys from its next request on (limiter/account-versions.ts). */
export interface Versions {
  /** Redis's clock, in milliseconds. */
  now(): Promise<number>;
  /** Raises the version; lowers it if it is `over`, 0 for none. Returns the one that Redis knows now; 0 if the read is too old. */
  raise(accountId: string, read: { version: number; begunMs: number; over: number }): Promise<number>;
}

/**
 * Announces that an account was changed: from then on every replica looks the account's keys up again. Call it once the store
 * has the change. If two commands write in one order and announce in the other, Redis keeps the newer version, whose record
 * has both changes. Three round trips; more if another command comes in between.
 * @param mayLower lowers the version if Redis knows one that the store has lost, as after a restored backup. Only
 * `admin accounts announce` sets it.
 * @throws problem `limiter_unavailable`, also if Redis knows a newer version than the store; `store_unavailable`.
 */
export async function announceAccount(
  accountId: string,
  { store, versions }: { store: Pick<AccountStore, "get">; versions: Versions },
  { mayLower = false } = {},
): Promise<void> {
  let known = 0;
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
    const begunMs = await versions.now();
    const { version } = await store.get(accountId, { evenErased: true });
    // A record is in the store before Redis learns of it. So if Redis knows a newer one and the store does not have it
    // at the next read, the store was restored from a backup. Then the newer one gives way.
    known = await versions.raise(accountId, { version, begunMs, over: mayLower ? known : 0 });
    if (known === version) return;
  }
  const detail =
    known === 0
      ? `Redis ignored the version of ${accountId}. Check that the clocks of its masters agree.`
      : `Redis knows a newer version of ${accountId} than MongoDB. ${IF_RESTORED}`;
  throw problem("limiter_unavailable", detail, { headers: { "Retry-After": "2" } });
}
