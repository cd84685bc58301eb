import type { RedisClient } from "../infra/redis.ts";
import { keys } from "./keys.ts";
import { limiterUnavailable } from "./outage.ts";

/** A replica may trust its cached record of a key for a minute; a marker outlives every such record by far. */
const MARKER_LIFE_MS = 24 * 60 * 60 * 1000;

/**
 * The markers of revocation, rotation and suspension beside the counters, which lua/charge.lua reads with every charge. The
 * store's record is the truth and must be written first; once a method here returns, every replica heeds it at its next request.
 *
 * Every method is idempotent, one round trip, and throws problem `limiter_unavailable` when Redis does not take it.
 */
export class KeyStanding {
  readonly #redis: RedisClient;

  constructor(redis: RedisClient) {
    this.#redis = redis;
  }

  async markRevoked(accountId: string, keyId: string): Promise<void> {
    await this.#mark(keys.keyStanding({ accountId, keyId }), "revoked");
  }

  /** Makes every replica look the key up again that knows it by an older version of the account's record. */
  async markRotated(accountId: string, keyId: string, accountVersion: number): Promise<void> {
    await this.#mark(keys.keyStanding({ accountId, keyId }), String(accountVersion));
  }

  async markSuspended(accountId: string): Promise<void> {
    await this.#mark(keys.accountStanding(accountId), "suspended");
  }

  async clearSuspended(accountId: string): Promise<void> {
    try {
      await this.#redis.del(keys.accountStanding(accountId));
    } catch (error) {
      throw limiterUnavailable(error);
    }
  }

  async #mark(key: string, standing: string): Promise<void> {
    try {
      await this.#redis.set(key, standing, "PX", MARKER_LIFE_MS);
    } catch (error) {
      throw limiterUnavailable(error);
    }
  }
}
