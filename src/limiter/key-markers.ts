import type { Markers } from "../accounts/announcer.ts";
import type { RedisClient } from "../infra/redis.ts";
import { redisKeys } from "./redis-keys.ts";
import { limiterUnavailable } from "./outage.ts";

/** Replicas cache a key for at most a minute (KEY_CACHE_SECONDS). Markers live much longer than that. */
const MARKER_TTL_MS = 24 * 60 * 60 * 1000;

/**
 * The markers of revocation, rotation and suspension, stored beside the counters. lua/charge.lua reads them with every
 * charge. Write the record in the store first: it is authoritative. Once a method returns, every replica obeys the
 * marker from its next request on.
 *
 * Every method is idempotent, takes one round trip, and throws problem `limiter_unavailable` if Redis fails.
 */
export class KeyMarkers implements Markers {
  readonly #redis: RedisClient;

  constructor(redis: RedisClient) {
    this.#redis = redis;
  }

  async markRevoked(accountId: string, keyId: string): Promise<void> {
    await this.#mark(redisKeys.keyMarker({ accountId, keyId }), "revoked");
  }

  /** Makes every replica look the key up again if it has cached an older version of the account's record. */
  async markRotated(accountId: string, keyId: string, accountVersion: number): Promise<void> {
    await this.#mark(redisKeys.keyMarker({ accountId, keyId }), String(accountVersion));
  }

  async markSuspended(accountId: string): Promise<void> {
    await this.#mark(redisKeys.accountMarker(accountId), "suspended");
  }

  async clearSuspended(accountId: string): Promise<void> {
    try {
      await this.#redis.del(redisKeys.accountMarker(accountId));
    } catch (error) {
      throw limiterUnavailable(error);
    }
  }

  async #mark(key: string, marker: string): Promise<void> {
    try {
      await this.#redis.set(key, marker, "PX", MARKER_TTL_MS);
    } catch (error) {
      throw limiterUnavailable(error);
    }
  }
}
