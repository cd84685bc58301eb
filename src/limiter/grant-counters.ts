import type { Caller } from "../accounts/caller.ts";
import type { RedisClient } from "../infra/redis.ts";
import { limiterUnavailable } from "./outage.ts";
import { redisKeys } from "./redis-keys.ts";
import { fillGrant } from "./scripts.ts";

/** A live grant as Redis counts it down. */
export interface Grant {
  readonly id: string;
  /** Requests it still admits, and admitted when it was issued. */
  readonly remaining: number;
  readonly amount: number;
  readonly expiresAtMs: number;
}

export interface NewGrant extends Caller {
  readonly grantId: string;
  /** Requests, a whole number; 0 places it empty. */
  readonly amount: number;
  /** By Redis's clock, in milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * The grants of a key in Redis, which lua/charge.lua draws on when a window of the surface create is exhausted.
 * Every method is one round trip and throws problem `limiter_unavailable` when Redis does not take it.
 */
export class GrantCounters {
  readonly #redis: RedisClient;

  constructor(redis: RedisClient) {
    this.#redis = redis;
  }

  /**
   * Places a grant, empty (amount 0, to be filled later) or full. The same id again changes nothing, however much was drawn
   * since. @returns whether it was new.
   */
  async put({ grantId, amount, expiresAtMs, ...caller }: NewGrant): Promise<boolean> {
    const key = redisKeys.grants(caller);
    const end = expiresAtMs + DAY_MS;
    // GT alone never gives an expiry to a key that has none, so NX goes first.
    const results = await this.#taken(
      this.#redis
        .multi()
        .hsetnx(key, grantId, `${amount}:${expiresAtMs}:${amount}`)
        .pexpireat(key, end, "NX")
        .pexpireat(key, end, "GT")
        .exec(),
    );
    const [error, created] = results?.[0] ?? [];
    if (results === null || error) throw limiterUnavailable(error);
    return created === 1;
  }

  /** Fills a grant that was placed empty, once. @returns whether it exists. Source: lua/fill-grant.lua. */
  fillOnce({ grantId, amount, ...caller }: Omit<NewGrant, "expiresAtMs">): Promise<boolean> {
    return this.#taken(fillGrant(this.#redis, caller, { grantId, amount }));
  }

  /** Removes a grant: from the next charge on nothing is drawn from it. @returns whether it existed. */
  async remove({ grantId, ...caller }: Caller & { grantId: string }): Promise<boolean> {
    return (await this.#taken(this.#redis.hdel(redisKeys.grants(caller), grantId))) === 1;
  }

  /** The key's grants, expired ones included for up to a day, in the order in which they expire. */
  async list(caller: Caller): Promise<Grant[]> {
    const fields = await this.#taken(this.#redis.hgetall(redisKeys.grants(caller)));
    return parseGrants(Object.entries(fields));
  }

  async #taken<T>(command: Promise<T>): Promise<T> {
    try {
      return await command;
    } catch (error) {
      throw limiterUnavailable(error);
    }
  }
}

/** Grants from the fields of their hash (lua/charge.lua), in the order in which they expire and so are drawn. */
export function parseGrants(fields: Iterable<readonly [id: string, value: string]>): Grant[] {
  return Array.from(fields, ([id, value]) => {
    const [remaining = NaN, expiresAtMs = NaN, amount = NaN] = value.split(":").map(Number);
    return { id, remaining, amount, expiresAtMs };
  }).toSorted((a, b) => a.expiresAtMs - b.expiresAtMs || (a.id < b.id ? -1 : 1));
}
