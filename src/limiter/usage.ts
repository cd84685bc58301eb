import type { Caller } from "../accounts/caller.ts";
import type { RedisClient } from "../infra/redis.ts";
import { run } from "../infra/scripts.ts";
import { type Grant, parseGrants } from "./grant-counters.ts";
import { keys } from "./keys.ts";
import { answerOf } from "./outage.ts";
import type { Quota } from "./decision.ts";
import { limitsOf, SURFACES, type Surface } from "./surfaces.ts";

export interface UsageOptions {
  redis: RedisClient;
  /** LIMIT_WINDOW_SECONDS, LIMIT_SCALE and LIMITER_TIMEOUT_MS. */
  windowSeconds: number;
  scale: number;
  timeoutMs: number;
}

export interface UsedQuota extends Quota {
  readonly used: number;
}

export interface SurfaceUsage {
  readonly surface: Surface;
  readonly account: UsedQuota;
  readonly key: UsedQuota;
  /** Milliseconds to the window's end. */
  readonly resetMs: number;
}

export interface Usage {
  readonly standing: "active" | "revoked" | "suspended";
  readonly surfaces: SurfaceUsage[];
  /** Live grants in the order in which they are drawn. */
  readonly grants: Grant[];
  /** Redis's clock, in milliseconds. */
  readonly nowMs: number;
}

/**
 * What a key and its account have used of every surface, read without charging. One round trip; source: lua/usage.lua.
 * @throws problem `limiter_unavailable` within `timeoutMs`.
 */
export async function usage({ redis, windowSeconds, scale, timeoutMs }: UsageOptions, caller: Caller): Promise<Usage> {
  const counters = SURFACES.flatMap((surface) => [keys.accountCounter(caller.accountId, surface), keys.keyCounter(caller, surface)]);
  const command = run(redis, "usage", keys.keyStanding(caller), keys.accountStanding(caller.accountId), keys.grants(caller), ...counters, windowSeconds);
  const [nowMs, revoked, suspended, fields, counts] = await answerOf(command, timeoutMs);
  return {
    standing: revoked === 1 ? "revoked" : suspended === 1 ? "suspended" : "active",
    surfaces: SURFACES.map((surface, index) => {
      const [accountUsed = 0, keyUsed = 0, resetMs = 0] = counts.slice(3 * index, 3 * index + 3);
      const limits = limitsOf(surface, scale);
      return { surface, account: quota(limits.account, accountUsed), key: quota(limits.key, keyUsed), resetMs };
    }),
    grants: parseGrants(pairs(fields)).filter(({ expiresAtMs }) => expiresAtMs > nowMs),
    nowMs,
  };
}

function quota(limit: number, used: number): UsedQuota {
  return { limit, used, remaining: Math.max(limit - used, 0) };
}

function* pairs(flat: string[]): Generator<[string, string]> {
  for (let i = 0; i < flat.length; i += 2) yield [flat[i] ?? "", flat[i + 1] ?? ""];
}
