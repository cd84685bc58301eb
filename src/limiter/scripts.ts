import type { Caller } from "../accounts/caller.ts";
import type { RedisClient } from "../infra/redis.ts";
import { loadScript, runScript } from "../infra/scripts.ts";
import type { Counted, KeyRefusal, Terms, Verdict } from "./decision.ts";
import { type Surface, SURFACES } from "./surfaces.ts";

/** The limiter's scripts as functions of one round trip. The header of each explains its keys, arguments and reply. */

const SCRIPTS = {
  charge: loadScript("charge.lua"),
  drawGrant: loadScript("draw-grant.lua"),
  fillGrant: loadScript("fill-grant.lua"),
  raiseVersion: loadScript("raise-version.lua"),
  usage: loadScript("usage.lua"),
};

/** `secretEndsAt` of a call whose secret never expires. */
export const NEVER = 0;

export interface ChargeCall extends Terms {
  readonly caller: Caller;
  readonly cost: number;
  /** By Redis's clock, in milliseconds; 0 for none. */
  readonly deadlineMs: number;
  /** Undefined if it is not to be checked. */
  readonly accountVersion: number | undefined;
  /** By Redis's clock, in milliseconds; 0 for never. */
  readonly secretEndsAt: number;
}

export type ChargeReply = Counted & { readonly verdict: Exclude<Verdict, "granted"> | "stale" };

/** lua/charge.lua */
export function charge(redis: RedisClient, call: ChargeCall): Promise<ChargeReply> {
  const { caller, surface, limits, windowSeconds, cost, deadlineMs, accountVersion, secretEndsAt } = call;
  const keys = [redisKeys.ledger(caller.accountId)];
  const args = [
    windowSeconds,
    accountVersion ?? "",
    ledgerFields.account(surface),
    ledgerFields.key(caller.keyId, surface),
    limits.account,
    limits.key,
    deadlineMs,
  ];
  // Most calls leave out both.
  if (secretEndsAt !== NEVER || cost !== 1) args.push(secretEndsAt);
  if (cost !== 1) args.push(cost);
  return runScript(redis, SCRIPTS.charge, keys, args, (reply) => chargeReply(reply as string, cost));
}

/** Reads the words of lua/charge.lua's reply. */
function chargeReply(reply: string, cost: number): ChargeReply {
  const words = reply.split(" ");
  const verdict = words[0] as ChargeReply["verdict"];
  const charged = verdict === "admitted" ? cost : 0;
  return {
    verdict,
    accountUsed: Number(words[1]) + charged,
    keyUsed: Number(words[2]) + charged,
    window: Number(words[3]),
    nowMs: milliseconds(words[4], words[5]),
  };
}

/** lua/draw-grant.lua. @returns `outcome`: `none` if no live grant covers the cost, `stale` if the deadline has passed. */
export function drawGrant(
  redis: RedisClient,
  { caller, surface, cost, deadlineMs }: Pick<ChargeCall, "caller" | "surface" | "cost" | "deadlineMs">,
) {
  const keys = [redisKeys.grants(caller, surface)];
  return runScript(redis, SCRIPTS.drawGrant, keys, [cost, deadlineMs], (reply) => {
    const [outcome, remaining, amount, ...time] = (reply as string).split(" ");
    return {
      outcome: outcome as "drawn" | "none" | "stale",
      grantRemaining: Number(remaining),
      grantAmount: Number(amount),
      nowMs: milliseconds(...time),
    };
  });
}

/** Returns the time that TIME tells in seconds and microseconds. */
function milliseconds(seconds?: string, micros?: string): number {
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}

type UsageCall = Pick<ChargeCall, "caller" | "windowSeconds" | "accountVersion" | "secretEndsAt">;

/** lua/usage.lua. @returns `refusal`: undefined if the key may be used; `surfaces`: in the order of SURFACES. */
export function usage(redis: RedisClient, { caller, windowSeconds, accountVersion, secretEndsAt }: UsageCall) {
  const keys = [redisKeys.ledger(caller.accountId)];
  const { account, key } = ledgerFields;
  const fields = SURFACES.flatMap((surface) => [account(surface), key(caller.keyId, surface)]);
  const args = [windowSeconds, accountVersion ?? "", secretEndsAt, ...fields];
  return runScript(redis, SCRIPTS.usage, keys, args, (reply) => {
    const [nowMs, refusal, resetMs, used] = reply as [number, KeyRefusal | "", number, number[]];
    const surfaces = SURFACES.map((surface, index) => {
      return { surface, accountUsed: used[2 * index] ?? 0, keyUsed: used[2 * index + 1] ?? 0 };
    });
    return { nowMs, refusal: refusal === "" ? undefined : refusal, resetMs, surfaces };
  });
}

/** lua/fill-grant.lua. @returns true if the grant exists. */
export function fillGrant(
  redis: RedisClient,
  caller: Caller,
  { grantId, surface, amount }: { grantId: string; surface: Surface; amount: number },
): Promise<boolean> {
  const keys = [redisKeys.grants(caller, surface)];
  return runScript(redis, SCRIPTS.fillGrant, keys, [grantId, amount], (reply) => reply === 1);
}

/**
 * lua/raise-version.lua
 * @param call `lifetimeMs`: minimum time that Redis keeps the version; `deadlineMs`: by Redis's clock, 0 for none; `over`: a
 * version that Redis may know and that the store has lost, 0 for none.
 * @returns the version that Redis knows now; 0 if the deadline has passed.
 */
export function raiseVersion(
  redis: RedisClient,
  accountId: string,
  { version, lifetimeMs, deadlineMs, over }: Record<"version" | "lifetimeMs" | "deadlineMs" | "over", number>,
): Promise<number> {
  const args = [version, lifetimeMs, deadlineMs, over];
  return runScript(redis, SCRIPTS.raiseVersion, [redisKeys.ledger(accountId)], args, Number);
}

/**
 * The names of the limiter's keys in Redis. All keys of an account are in the hash slot of `{accountId}`, so one script
 * call reaches them on a cluster. Ids contain no braces.
 */
export const redisKeys = {
  ledger: (accountId: string) => `{${accountId}}:ledger`,
  // Version 0.1.0 had grants of creates only, so their name has no surface.
  grants: ({ accountId, keyId }: Caller, surface: Surface) =>
    `{${accountId}}:grants:${keyId}${surface === "create" ? "" : `:${surface}`}`,
};

/**
 * The fields of a ledger besides `window` and `version` (lua/charge.lua). No surface has one of these two names. A key's id
 * is stored without `key_`, which saves 128 bytes for an account with two keys.
 */
export const ledgerFields = {
  account: (surface: Surface) => surface,
  key: (keyId: string, surface: Surface) => `${surface}:${keyId.replace(/^key_/, "")}`,
};
