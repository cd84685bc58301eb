import type { Caller } from "../accounts/caller.ts";
import { DAY_MS } from "../infra/clock.ts";
import type { RedisClient } from "../infra/redis.ts";
import { type LiveGrants, NO_GRANTS } from "./decision.ts";
import { limiterUnavailable, replyTo } from "./observer.ts";
import { fillGrant, redisKeys } from "./scripts.ts";
import type { Surface } from "./surfaces.ts";

export interface Grant {
  readonly id: string;
  readonly surface: Surface;
  /** Requests it still admits. */
  readonly remaining: number;
  /** Requests it admitted when it was issued. */
  readonly amount: number;
  readonly expiresAtMs: number;
}

/** The place where Redis counts a grant. */
export type GrantAddress = Caller & Readonly<{ grantId: string; surface: Surface }>;

export interface NewGrant extends GrantAddress {
  /** Requests, a whole number; 0 places the grant empty. */
  readonly amount: number;
  /** By Redis's clock, in milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

/** The grants of keys in Redis (lua/draw-grant.lua). Every method takes one round trip, and may throw `limiter_unavailable`. */
export class GrantCounters {
  readonly #redis: RedisClient;

  constructor(redis: RedisClient) {
    this.#redis = redis;
  }

  /** Places a grant, empty (amount 0) or full, unless the key has one with that id. Returns true if the grant was new. */
  async put({ grantId, surface, amount, expiresAtMs, ...caller }: NewGrant): Promise<boolean> {
    const key = redisKeys.grants(caller, surface);
    const end = expiresAtMs + DAY_MS; // the hash is kept until a day after its last grant expires
    // GT never sets an expiry on a key that has none, so NX comes first.
    const results = await replyTo(
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

  /** Fills a grant that was created empty, once (lua/fill-grant.lua). Returns true if the grant exists. */
  fillOnce({ grantId, surface, amount, ...caller }: Omit<NewGrant, "expiresAtMs">): Promise<boolean> {
    return replyTo(fillGrant(this.#redis, caller, { grantId, surface, amount }));
  }

  /** Removes a grant. From the next charge on, nothing is drawn from it. @returns true if it existed. */
  async remove({ grantId, surface, ...caller }: GrantAddress): Promise<boolean> {
    return (await replyTo(this.#redis.hdel(redisKeys.grants(caller, surface), grantId))) === 1;
  }

  /** Returns the key's grants for a surface, expired ones too. The first to expire comes first, and is drawn on first. */
  async list(caller: Caller, surface: Surface): Promise<Grant[]> {
    const fields = await replyTo(this.#redis.hgetall(redisKeys.grants(caller, surface)));
    const grants = Object.entries(fields).map(([id, value]) => {
      const [remaining = NaN, expiresAtMs = NaN, amount = NaN] = value.split(":").map(Number);
      return { id, surface, remaining, amount, expiresAtMs };
    });
    return grants.toSorted((a, b) => a.expiresAtMs - b.expiresAtMs || (a.id < b.id ? -1 : 1));
  }
}

/** Returns the totals of the grants that have not expired. @param nowMs Redis's clock, in milliseconds since the epoch. */
export function liveGrants(grants: readonly Grant[], nowMs: number): LiveGrants {
  const live = grants.filter(({ expiresAtMs }) => expiresAtMs > nowMs);
  if (live.length === 0) return NO_GRANTS;
  const sum = (part: "remaining" | "amount") => live.reduce((total, grant) => total + grant[part], 0);
  return { grantRemaining: sum("remaining"), grantAmount: sum("amount") };
}
