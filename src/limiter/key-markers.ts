import type { Markers } from "../accounts/announcer.ts";
import type { RedisClient } from "../infra/redis.ts";
import { redisKeys } from "./redis-keys.ts";
import { limiterUnavailable } from "./outage.ts";

/** A replica may trust its cached record of a key for a minute. A marker lives much longer than any such record. */
const MARKER_LIFE_MS = 24 * 60 * 60 * 1000;

/**
 * The markers of revocation, rotation and suspension beside the counters. lua/charge.lua reads them with every charge. Write
 * the store's record first: it is the truth. Once a method here returns, every replica heeds the marker at its next request.
 *
 * Every method is idempotent, takes one round trip, and throws problem `limiter_unavailable` if Redis does not accept it.
 */
export class KeyMarkers implements Markers {
  readonly #redis: RedisClient;

  constructor(redis: RedisClient) {
    this.#redis = redis;
  }

  async markRevoked(accountId: string, keyId: string): Promise<void> {
    await this.#mark(redisKeys.keyMarker({ accountId, keyId }), "revoked");
  }

  /** Makes every replica that knows the key by an older version of the account's record look it up again. */
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
      await this.#redis.set(key, marker, "PX", MARKER_LIFE_MS);
    } catch (error) {
      throw limiterUnavailable(error);
    }
  }
}
