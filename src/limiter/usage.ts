import type { RedisClient } from "../infra/redis.ts";
import type { CallerClaim } from "./decision.ts";
import { GrantCounters } from "./grant-counters.ts";
import { replyWithin } from "./observer.ts";
import { NEVER, usage } from "./scripts.ts";
import { limitsOf, SURFACES } from "./surfaces.ts";

export interface UsageOptions {
  redis: RedisClient;
  /** LIMIT_WINDOW_SECONDS, LIMIT_SCALE and LIMITER_TIMEOUT_MS. */
  windowSeconds: number;
  scale: number;
  timeoutMs: number;
}

export type Usage = Readonly<Awaited<ReturnType<typeof readUsage>>>;

/**
 * Returns what a key and its account have used of every surface, the key's grants, and the reason why the key may not be
 * used, if there is one. Charges nothing. One round trip: lua/usage.lua, and one command for the grants of each surface.
 * @throws problem `limiter_unavailable` within `timeoutMs`.
 */
export async function readUsage(
  { redis, windowSeconds, scale, timeoutMs }: UsageOptions,
  { accountId, keyId, accountVersion, secretEndsAt = NEVER }: CallerClaim,
) {
  const call = { caller: { accountId, keyId }, windowSeconds, accountVersion, secretEndsAt };
  const counters = new GrantCounters(redis);
  const read = () =>
    Promise.all([usage(redis, call), Promise.all(SURFACES.map((surface) => counters.list(call.caller, surface)))]);
  const [{ nowMs, refusal, resetMs, surfaces }, grants] = await replyWithin(timeoutMs, read);
  return {
    /** Undefined if the key may be used. */
    refusal,
    /** Milliseconds to the window's end. All surfaces have the same window. */
    resetMs,
    surfaces: surfaces.map(({ surface, accountUsed, keyUsed }) => {
      const limits = limitsOf(surface, scale);
      return { surface, account: quota(limits.account, accountUsed), key: quota(limits.key, keyUsed) };
    }),
    /** Live grants by surface, in the order in which they are drawn on. */
    grants: grants.flat().filter(({ expiresAtMs }) => expiresAtMs > nowMs),
    /** Redis's clock, in milliseconds. */
    nowMs,
    windowSeconds,
  };
}

function quota(limit: number, used: number) {
  return { limit, used, remaining: Math.max(limit - used, 0) };
}
