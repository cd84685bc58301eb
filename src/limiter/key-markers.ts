import type { AccountRecord } from "../accounts/account.ts";
import type { Markers } from "../accounts/announcer.ts";
import type { RedisClient } from "../infra/redis.ts";
import { limiterUnavailable } from "./outage.ts";
import { markAccount, markKey } from "./scripts.ts";

/** Replicas cache a key for at most a minute (KEY_CACHE_SECONDS). Markers live much longer than that. */
const MARKER_TTL_MS = 24 * 60 * 60 * 1000;

/**
 * The markers of revocation, rotation and suspension, stored beside the counters. lua/charge.lua reads them with every
 * charge. Write the record in the store first: it is authoritative. Once a method returns, every replica obeys the
 * marker from its next request on.
 *
 * Two commands may write the store in one order and come here in the other. So a marker is never taken back by an older
 * record, not even for a moment (lua/mark-key.lua, lua/mark-account.lua).
 *
 * Every method is idempotent, takes one round trip, and throws problem `limiter_unavailable` if Redis fails. It returns false
 * if Redis knows a newer record. With `restored` it sets the marker all the same, except over a revocation: the store was
 * restored from a backup, so its newest record has a lower version.
 */
export class KeyMarkers implements Markers {
  readonly #redis: RedisClient;

  constructor(redis: RedisClient) {
    this.#redis = redis;
  }

  markRevoked(accountId: string, keyId: string): Promise<boolean> {
    return this.#markKey(accountId, keyId, "revoked", true);
  }

  /** Makes every replica look the key up again if it has cached an older version of the account's record. */
  markRotated(accountId: string, keyId: string, accountVersion: number, restored = false): Promise<boolean> {
    return this.#markKey(accountId, keyId, accountVersion, restored);
  }

  /** Marks an account as suspended or active. */
  markStatus(
    accountId: string,
    status: AccountRecord["status"],
    accountVersion: number,
    restored = false,
  ): Promise<boolean> {
    const marker = { status, version: accountVersion, lifetimeMs: MARKER_TTL_MS, restored };
    return orUnavailable(markAccount(this.#redis, accountId, marker));
  }

  #markKey(accountId: string, keyId: string, marker: "revoked" | number, restored: boolean): Promise<boolean> {
    const marking = { marker, lifetimeMs: MARKER_TTL_MS, restored };
    return orUnavailable(markKey(this.#redis, { accountId, keyId }, marking));
  }
}

async function orUnavailable<T>(command: Promise<T>): Promise<T> {
  try {
    return await command;
  } catch (error) {
    throw limiterUnavailable(error);
  }
}
