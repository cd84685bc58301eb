import { setTimeout } from "node:timers/promises";
import { randomUUID } from "node:crypto";
import type { Caller } from "../../src/accounts/caller.ts";
import { SharedClock } from "../../src/infra/clock.ts";
import { Metrics } from "../../src/infra/metrics.ts";
import { connectRedis, type RedisClient } from "../../src/infra/redis.ts";
import { AccountVersions } from "../../src/limiter/account-versions.ts";
import type { ChargeRequest, Decision } from "../../src/limiter/decision.ts";
import { Limiter, type LimiterOptions } from "../../src/limiter/limiter.ts";
import { Problem } from "../../src/problems.ts";
import { useStarted } from "../support/use-started.ts";

const DAY_MS = 86_400_000;
const MIDNIGHT_MARGIN_MS = 8_000;

/** Connects the calling suite to the Redis of the test run. All tests share that Redis, so each uses its own accounts. */
export function useTestRedis(): RedisClient {
  return useStarted("Redis", testRedis, (redis) => redis.disconnect());
}

/** Connects to the Redis of the test run. The caller disconnects. */
export function testRedis(): Promise<RedisClient> {
  const { REDIS_URL } = process.env;
  if (!REDIS_URL) throw new Error("Run the tests with `npm test`: it starts Redis.");
  return connectRedis({ url: REDIS_URL, timeoutMs: 5_000 });
}

/** Creates a limiter like a replica's. The timeout is long, so that a busy machine is not mistaken for an outage. */
export function limiterOver(redis: RedisClient, options: Partial<LimiterOptions> = {}): Limiter {
  const settings = {
    windowSeconds: 86_400,
    scale: 1,
    timeoutMs: 5_000,
    onOutage: "refuse",
    replicasExpected: 1,
    connection: { changes: 0, connections: 0 },
  } as const;
  return new Limiter({ redis, metrics: new Metrics(), clock: new SharedClock(), ...settings, ...options });
}

/** Returns a caller that no other test uses. */
export function newCaller(accountId = `acct_${randomUUID()}`): Caller {
  return { accountId, keyId: `key_${randomUUID()}` };
}

/** Announces a version of an account's record, as an operators' command does. @returns the version that Redis knows now. */
export async function raiseTo(redis: RedisClient, accountId: string, version: number, over = 0): Promise<number> {
  const versions = new AccountVersions(redis);
  return versions.raise(accountId, { version, begunMs: await versions.now(), over });
}

/** Returns the time of Redis's clock, in milliseconds since the epoch. */
export async function redisNow(redis: RedisClient): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}

/** Waits until Redis's clock is in the first quarter of a window. */
export async function earlyInWindow(redis: RedisClient, windowSeconds: number): Promise<void> {
  const length = windowSeconds * 1000;
  for (
    let into = (await redisNow(redis)) % length;
    into < 10 || into > length / 4;
    into = (await redisNow(redis)) % length
  ) {
    await setTimeout(into < 10 ? 10 : length - into + 10);
  }
}

/** Returns the problem that a promise is rejected with. @throws if it ends in any other way. */
export async function problemOf(promise: Promise<unknown>): Promise<Problem> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Problem)) throw new Error("A problem was expected.", { cause: error });
  return error;
}

/** Waits for the next day if Redis's day is about to end, so that tests with a window of one day stay within it. */
export async function clearOfMidnight(redis: RedisClient): Promise<void> {
  const left = DAY_MS - ((await redisNow(redis)) % DAY_MS);
  if (left < MIDNIGHT_MARGIN_MS) await setTimeout(left + 10);
}

/** Counts the decisions by verdict. */
export function verdicts(decisions: Decision[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { verdict } of decisions) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return counts;
}

/** A limiter for the suite that calls this, and two ways to charge with it. */
export function useLimiter() {
  const redis = useTestRedis();
  let limiter: Limiter;
  before(async () => {
    await clearOfMidnight(redis);
    limiter = limiterOver(redis);
  });
  const charge = (times: number, request: ChargeRequest): Promise<Decision[]> =>
    Promise.all(Array.from({ length: times }, () => limiter.charge(request)));
  return {
    redis,
    /** Charges a request so often at once. */
    charge,
    /** The same, and returns the last decision. */
    last: async (times: number, request: ChargeRequest) => (await charge(times, request)).at(-1),
    chargeOne: (request: ChargeRequest): Promise<Decision> => limiter.charge(request),
  };
}
