import type { RedisClient } from "../infra/redis.ts";
import type { CallerClaim, KeyRefusal, Quota } from "./decision.ts";
import { type Grant, GrantCounters } from "./grant-counters.ts";
import { replyWithin } from "./observer.ts";
import { NEVER, usage } from "./scripts.ts";
import { limitsOf, SURFACES, type Surface } from "./surfaces.ts";

export interface UsageOptions {
  redis: RedisClient;
  /** LIMIT_WINDOW_SECONDS, LIMIT_SCALE and LIMITER_TIMEOUT_MS. */
  windowSeconds: number;
  scale: number;
  timeoutMs: number;
}

type UsedQuota = Quota & { readonly used: number };

export interface Usage {
  /** Undefined if the key may be used. */
  readonly refusal: KeyRefusal | undefined;
  /** Milliseconds to the window's end. All surfaces have the same window. */
  readonly resetMs: number;
  readonly surfaces: readonly { readonly surface: Surface; readonly account: UsedQuota; readonly key: UsedQuota }[];
  /** Live grants by surface, in the order in which they are drawn on. */
  readonly grants: Grant[];
  /** Redis's clock, in milliseconds. */
  readonly nowMs: number;
  readonly windowSeconds: number;
}

/**
 * Returns what a key and its account have used of every surface, the key's grants, and the reason why the key may not be
 * used, if there is one. Charges nothing. One round trip: lua/usage.lua, and one command for the grants of each surface.
 * @throws problem `limiter_unavailable` within `timeoutMs`.
 */
export async function readUsage(
  { redis, windowSeconds, scale, timeoutMs }: UsageOptions,
  { accountId, keyId, accountVersion, secretEndsAt = NEVER }: CallerClaim,
): Promise<Usage> {
  const call = { caller: { accountId, keyId }, windowSeconds, accountVersion, secretEndsAt };
  const counters = new GrantCounters(redis);
  const read = () =>
    Promise.all([usage(redis, call), Promise.all(SURFACES.map((surface) => counters.list(call.caller, surface)))]);
  const [{ nowMs, refusal, resetMs, surfaces }, grants] = await replyWithin(timeoutMs, read);
  return {
    refusal,
    resetMs,
    surfaces: surfaces.map(({ surface, accountUsed, keyUsed }) => {
      const limits = limitsOf(surface, scale);
      return { surface, account: quota(limits.account, accountUsed), key: quota(limits.key, keyUsed) };
    }),
    grants: grants.flat().filter(({ expiresAtMs }) => expiresAtMs > nowMs),
    nowMs,
    windowSeconds,
  };
}

function quota(limit: number, used: number): UsedQuota {
  return { limit, used, remaining: Math.max(limit - used, 0) };
}
