import type { AccountRecord } from "../accounts/account.ts";
import type { Caller } from "../accounts/caller.ts";
import type { RedisClient } from "../infra/redis.ts";
import { loadScript, runScript } from "../infra/scripts.ts";
import type { KeyRefusal, Verdict } from "./decision.ts";
import { redisKeys } from "./redis-keys.ts";
import { type Surface, SURFACES } from "./surfaces.ts";

/** The limiter's scripts as functions. The header of each script explains its keys, arguments and answer. */

const SCRIPTS = {
  charge: loadScript("charge.lua"),
  fillGrant: loadScript("fill-grant.lua"),
  markAccount: loadScript("mark-account.lua"),
  markKey: loadScript("mark-key.lua"),
  usage: loadScript("usage.lua"),
};

/** What a call says if the version, or the end of the secret, is not to be checked. */
export const ANY_VERSION = Number.MAX_SAFE_INTEGER;
export const NEVER = 0;

export interface ChargeCall {
  readonly caller: Caller;
  readonly surface: Surface;
  readonly limits: { readonly account: number; readonly key: number };
  readonly windowSeconds: number;
  readonly cost: number;
  /** By Redis's clock, in milliseconds; 0 for none. */
  readonly deadlineMs: number;
  readonly accountVersion: number;
  /** By Redis's clock, in milliseconds; 0 for never. */
  readonly secretEndsAt: number;
}

export interface ChargeAnswer {
  readonly verdict: Verdict | "stale";
  readonly accountRemaining: number;
  readonly keyRemaining: number;
  readonly resetMs: number;
  /** -1 without a live grant. */
  readonly grantRemaining: number;
  readonly grantAmount: number;
  readonly nowMs: number;
}

/** lua/charge.lua. One round trip. */
export function charge(redis: RedisClient, call: ChargeCall): Promise<ChargeAnswer> {
  const { caller, surface, limits, windowSeconds, cost, deadlineMs, accountVersion, secretEndsAt } = call;
  const keys = [
    redisKeys.accountCounter(caller.accountId, surface),
    redisKeys.keyCounter(caller, surface),
    redisKeys.keyMarker(caller),
    redisKeys.accountMarker(caller.accountId),
    redisKeys.grants(caller, surface),
  ];
  const args = `${limits.account} ${limits.key} ${windowSeconds} ${cost} ${deadlineMs} ${accountVersion} ${secretEndsAt}`;
  return runScript(redis, SCRIPTS.charge, keys, [args], chargeAnswer);
}

/** Reads the words of lua/charge.lua's answer. */
function chargeAnswer(answer: unknown): ChargeAnswer {
  const words = (answer as string).split(" ");
  return {
    verdict: words[0] as ChargeAnswer["verdict"],
    accountRemaining: Number(words[1]),
    keyRemaining: Number(words[2]),
    resetMs: Number(words[3]),
    grantRemaining: Number(words[4]),
    nowMs: Number(words[5]),
    grantAmount: Number(words[6]),
  };
}

export interface SurfaceAnswer {
  readonly accountUsed: number;
  readonly keyUsed: number;
  readonly resetMs: number;
  /** As HGETALL: id, value, id, value … */
  readonly grants: readonly string[];
}

export interface UsageAnswer {
  readonly nowMs: number;
  /** Why the key may not be used; undefined if it may. */
  readonly refusal: KeyRefusal | undefined;
  /** One for each surface, in the order of SURFACES. */
  readonly surfaces: readonly SurfaceAnswer[];
}

/** lua/usage.lua. One round trip. */
export function usage(
  redis: RedisClient,
  {
    caller,
    windowSeconds,
    accountVersion,
    secretEndsAt,
  }: Pick<ChargeCall, "caller" | "windowSeconds" | "accountVersion" | "secretEndsAt">,
): Promise<UsageAnswer> {
  const keys = [
    redisKeys.keyMarker(caller),
    redisKeys.accountMarker(caller.accountId),
    ...SURFACES.flatMap((surface) => [
      redisKeys.accountCounter(caller.accountId, surface),
      redisKeys.keyCounter(caller, surface),
      redisKeys.grants(caller, surface),
    ]),
  ];
  return runScript(redis, SCRIPTS.usage, keys, [windowSeconds, accountVersion, secretEndsAt], usageAnswer);
}

function usageAnswer(answer: unknown): UsageAnswer {
  const [nowMs, refusal, rows] = answer as [number, KeyRefusal | "", [number, number, number, string[]][]];
  const surfaces = rows.map(([accountUsed, keyUsed, resetMs, grants]) => ({ accountUsed, keyUsed, resetMs, grants }));
  return { nowMs, refusal: refusal === "" ? undefined : refusal, surfaces };
}

/** lua/fill-grant.lua. One round trip. @returns whether the grant exists. */
export function fillGrant(
  redis: RedisClient,
  caller: Caller,
  { grantId, surface, amount }: { grantId: string; surface: Surface; amount: number },
): Promise<boolean> {
  const keys = [redisKeys.grants(caller, surface)];
  return runScript(redis, SCRIPTS.fillGrant, keys, [grantId, amount], isDone);
}

/** What the scripts that set markers have in common. */
interface Marking {
  readonly lifetimeMs: number;
  /** Whether the store was restored from a backup: then a newer record that Redis knows is no longer true. */
  readonly restored: boolean;
}

/**
 * lua/mark-key.lua. One round trip.
 * @param marker `revoked`, or the version of the account's record that rotated the key.
 * @returns whether the marker is set; false if Redis knows of a revocation, or of a newer rotation.
 */
export function markKey(
  redis: RedisClient,
  caller: Caller,
  { marker, lifetimeMs, restored }: Marking & { readonly marker: "revoked" | number },
): Promise<boolean> {
  const args = [marker, lifetimeMs, Number(restored)];
  return runScript(redis, SCRIPTS.markKey, [redisKeys.keyMarker(caller)], args, isDone);
}

/** lua/mark-account.lua. One round trip. @returns whether the status is set; false if Redis knows a newer record. */
export function markAccount(
  redis: RedisClient,
  accountId: string,
  { status, version, lifetimeMs, restored }: Marking & Pick<AccountRecord, "status" | "version">,
): Promise<boolean> {
  const keys = [redisKeys.accountMarker(accountId), redisKeys.publishedVersion(accountId)];
  return runScript(redis, SCRIPTS.markAccount, keys, [status, version, lifetimeMs, Number(restored)], isDone);
}

function isDone(answer: unknown): boolean {
  return answer === 1;
}
