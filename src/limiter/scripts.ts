import type { Caller } from "../accounts/caller.ts";
import type { RedisClient } from "../infra/redis.ts";
import { loadScript, runScript } from "../infra/scripts.ts";
import type { KeyRefusal, Verdict } from "./decision.ts";
import { ledgerFields, redisKeys } from "./redis-keys.ts";
import { type Surface, SURFACES } from "./surfaces.ts";

/** The limiter's scripts as functions. The header of each script explains its keys, arguments and answer. */

const SCRIPTS = {
  charge: loadScript("charge.lua"),
  fillGrant: loadScript("fill-grant.lua"),
  raiseVersion: loadScript("raise-version.lua"),
  usage: loadScript("usage.lua"),
};

/** What a call says if the end of the secret is not to be checked. */
export const NEVER = 0;

export interface ChargeCall {
  readonly caller: Caller;
  readonly surface: Surface;
  readonly limits: { readonly account: number; readonly key: number };
  readonly windowSeconds: number;
  readonly cost: number;
  /** By Redis's clock, in milliseconds; 0 for none. */
  readonly deadlineMs: number;
  /** Undefined if it is not to be checked. */
  readonly accountVersion: number | undefined;
  /** By Redis's clock, in milliseconds; 0 for never. */
  readonly secretEndsAt: number;
  /** Whether the answer must say what remains of the key's grants. If a window is exhausted, it says so in any case. */
  readonly showGrants: boolean;
}

export interface ChargeAnswer {
  readonly verdict: Verdict | "stale";
  /** What was used in the window, in requests. An admitted request is included. */
  readonly accountUsed: number;
  readonly keyUsed: number;
  /** The number of the window. */
  readonly window: number;
  /** -1 without a live grant, or if the grants were not read. */
  readonly grantRemaining: number;
  readonly grantAmount: number;
  readonly nowMs: number;
}

/** lua/charge.lua. One round trip. */
export function charge(redis: RedisClient, call: ChargeCall): Promise<ChargeAnswer> {
  const { caller, surface, limits, windowSeconds, cost, deadlineMs, accountVersion, secretEndsAt, showGrants } = call;
  const keys = [redisKeys.ledger(caller.accountId), redisKeys.grants(caller, surface)];
  const args = [
    windowSeconds,
    accountVersion ?? "",
    ledgerFields.account(surface),
    ledgerFields.key(caller.keyId, surface),
    limits.account,
    limits.key,
    deadlineMs,
  ];
  // Most calls leave all of these out.
  if (secretEndsAt !== NEVER || showGrants || cost !== 1) args.push(secretEndsAt);
  if (showGrants || cost !== 1) args.push(showGrants ? 1 : 0);
  if (cost !== 1) args.push(cost);
  return runScript(redis, SCRIPTS.charge, keys, args, (answer) => chargeAnswer(answer as string, cost));
}

/** Reads the words of lua/charge.lua's answer. */
function chargeAnswer(answer: string, cost: number): ChargeAnswer {
  const words = answer.split(" ");
  const verdict = words[0] as ChargeAnswer["verdict"];
  const charged = verdict === "admitted" ? cost : 0;
  return {
    verdict,
    accountUsed: Number(words[1]) + charged,
    keyUsed: Number(words[2]) + charged,
    window: Number(words[3]),
    nowMs: Number(words[4]) * 1000 + Math.floor(Number(words[5]) / 1000),
    grantRemaining: Number(words[6] ?? -1),
    grantAmount: Number(words[7] ?? -1),
  };
}

export interface SurfaceAnswer {
  readonly accountUsed: number;
  readonly keyUsed: number;
  /** As HGETALL: id, value, id, value … */
  readonly grants: readonly string[];
}

export interface UsageAnswer {
  readonly nowMs: number;
  /** Why the key may not be used; undefined if it may. */
  readonly refusal: KeyRefusal | undefined;
  /** Milliseconds to the window's end. */
  readonly resetMs: number;
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
  const keys = [redisKeys.ledger(caller.accountId), ...SURFACES.map((surface) => redisKeys.grants(caller, surface))];
  const fields = SURFACES.flatMap((surface) => [
    ledgerFields.account(surface),
    ledgerFields.key(caller.keyId, surface),
  ]);
  return runScript(
    redis,
    SCRIPTS.usage,
    keys,
    [windowSeconds, accountVersion ?? "", secretEndsAt, ...fields],
    (answer) => usageAnswer(answer as UsageWords),
  );
}

type UsageWords = [nowMs: number, refusal: KeyRefusal | "", resetMs: number, used: number[], grants: string[][]];

function usageAnswer([nowMs, refusal, resetMs, used, grants]: UsageWords): UsageAnswer {
  const surfaces = grants.map((of, index) => ({
    accountUsed: used[2 * index] ?? 0,
    keyUsed: used[2 * index + 1] ?? 0,
    grants: of,
  }));
  return { nowMs, refusal: refusal === "" ? undefined : refusal, resetMs, surfaces };
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

export interface VersionCall {
  readonly version: number;
  /** How long Redis keeps the version at least, in milliseconds. */
  readonly lifetimeMs: number;
  /** By Redis's clock, in milliseconds; 0 for none. */
  readonly deadlineMs: number;
  /** A version that Redis may know and that the store has lost: lower it. 0 for none. */
  readonly over: number;
}

/** lua/raise-version.lua. One round trip. @returns the version that Redis knows now; 0 if the deadline has passed. */
export function raiseVersion(
  redis: RedisClient,
  accountId: string,
  { version, lifetimeMs, deadlineMs, over }: VersionCall,
): Promise<number> {
  const args = [version, lifetimeMs, deadlineMs, over];
  return runScript(redis, SCRIPTS.raiseVersion, [redisKeys.ledger(accountId)], args, Number);
}

function isDone(answer: unknown): boolean {
  return answer === 1;
}
