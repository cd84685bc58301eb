import type { Caller } from "../../src/accounts/caller.ts";
import type { RedisClient } from "../../src/infra/redis.ts";
import { charge, type ChargeReply, type ChargeCall, NEVER, raiseVersion } from "../../src/limiter/scripts.ts";
import { limitsOf, PER_KEY, type Surface, SURFACES } from "../../src/limiter/surfaces.ts";

/** Charges of accounts that exist only in Redis, sent to it as the service sends them. */

/** Keys of each account. */
const KEYS = 2;
/** What one account can be charged for: every surface by every key. */
const WAYS = KEYS * SURFACES.length;
/** Of each account's record. */
const VERSION = 1;
/** More than any run sends. */
const SCALE = 1_000_000;
const HOUR_MS = 3_600_000;
/** Charges that wait for their answer at the same time, so that Redis is always busy. */
const IN_FLIGHT = 512;

/** Returns the numbers that `numberedCall` takes if there are that many accounts: 0 to this, without it. */
export function callsOf(accounts: number): number {
  return accounts * WAYS;
}

/** Returns a charge of account `n / WAYS`. Numbers that follow each other are those of one account. */
export function numberedCall(n: number, windowSeconds: number, costOf = (_surface: Surface) => 1): ChargeCall {
  const surface = SURFACES[n % SURFACES.length]!;
  return {
    caller: callerOf(Math.floor(n / WAYS), Math.floor(n / SURFACES.length) % KEYS),
    surface,
    limits: limitsOf(surface, SCALE),
    windowSeconds,
    cost: costOf(surface),
    deadlineMs: Date.now() + HOUR_MS,
    accountVersion: VERSION,
    secretEndsAt: NEVER,
  };
}

/** Ids are as long as real ones. Those of keys are the same in each account, so that an account can be copied. */
function callerOf(account: number, key: number): Caller {
  return { accountId: accountIdOf(account), keyId: `key_${digits(key)}` };
}

export function accountIdOf(account: number): string {
  return `acct_${digits(account)}`;
}

function digits(n: number): string {
  return String(n).padStart(26, "0");
}

/** @throws if the charge is not admitted. */
export async function admit(redis: RedisClient, call: ChargeCall): Promise<ChargeReply> {
  const answer = await charge(redis, call);
  if (answer.verdict === "admitted") return answer;
  throw new Error(`A charge was to be admitted, but Redis answered ${answer.verdict}.`);
}

/** Tells Redis the version of accounts `from` to `to` - 1, as look-ups of their keys do. Without it no charge is admitted. */
export async function lookUpAccounts(redis: RedisClient, from: number, to: number): Promise<void> {
  const call = { version: VERSION, lifetimeMs: HOUR_MS, deadlineMs: 0, over: 0 };
  await sendAll(to - from, (n) => raiseVersion(redis, accountIdOf(from + n), call));
}

/** Charges accounts 0 to `accounts` - 1 with what their two keys may send in an hour, on every surface. */
export async function fillAccounts(redis: RedisClient, accounts: number, windowSeconds: number): Promise<void> {
  const whole = (surface: Surface) => PER_KEY[surface];
  await lookUpAccounts(redis, 0, accounts);
  await sendAll(callsOf(accounts), (n) => admit(redis, numberedCall(n, windowSeconds, whole)));
}

/** Calls `send` with 0 to `count` - 1, and keeps many waiting for their answer at the same time. */
export async function sendAll(count: number, send: (n: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await send(next++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
}
