import { randomInt } from "node:crypto";
import { connectRedis, type RedisClient } from "../../src/infra/redis.ts";
import type { Caller } from "../../src/accounts/caller.ts";
import { GrantCounters } from "../../src/limiter/grant-counters.ts";
import { charge, drawGrant, ledgerFields, raiseVersion, redisKeys, usage } from "../../src/limiter/scripts.ts";
import { startProxy } from "../limiter/proxy.ts";
import { newCaller, redisNow } from "../limiter/support.ts";
import { startRecorder } from "./redis-recorder.ts";

const TRACES = 150;
const CONNECTIONS = 3;
const STEPS = 60;
const SURFACES = ["create", "start"] as const;

/** How often an answer is lost, and its connection is cut. */
const LOSE_EVERY_MS = 200;

/**
 * Runs random sequences of the scripts on the Redis of the test run, and records them in a folder: one account each, with
 * three keys, from several connections at once, over several windows of one second. The network loses some answers: what was
 * asked is then recorded as Redis ran it, but never reached who asked.
 */
export async function recordCalls(folder: string): Promise<void> {
  const { port, hostname } = new URL(process.env.REDIS_URL ?? "");
  if (hostname !== "127.0.0.1") throw new Error("Traces are recorded in front of a Redis of this machine.");
  const recorder = await startRecorder(Number(port), folder);
  const network = await startProxy(recorder.port);
  const connections = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => connectRedis({ url: network.url, timeoutMs: 5_000 })),
  );
  for (const connection of connections) connection.setMaxListeners(0); // each sequence waits for the same "ready"
  const losing = setInterval(() => (network.loseAnswer = true), LOSE_EVERY_MS);
  try {
    await Promise.all(Array.from({ length: TRACES }, () => randomSequence(connections)));
  } finally {
    clearInterval(losing);
    for (const connection of connections) connection.disconnect();
    network.close();
    await recorder.close();
  }
}

async function randomSequence(connections: readonly RedisClient[]): Promise<void> {
  const first = newCaller();
  const callers = [first, newCaller(first.accountId), newCaller(first.accountId)];
  const limits = { account: randomInt(0, 8), key: randomInt(0, 6) };
  const lanes = connections.map(async (redis) => {
    for (let step = 0; step < STEPS / CONNECTIONS; step++) {
      // A step fails if its answer was lost, or while the connection is made again.
      await randomStep(redis, oneOf(callers), limits).catch(() => reconnected(redis));
    }
  });
  await Promise.all(lanes);
}

async function reconnected(redis: RedisClient): Promise<void> {
  if (redis.status !== "ready") await new Promise<void>((resolve) => redis.once("ready", resolve));
}

interface Limits {
  readonly account: number;
  readonly key: number;
}

async function randomStep(redis: RedisClient, caller: Caller, limits: Limits): Promise<unknown> {
  const grants = new GrantCounters(redis);
  const place = { ...caller, surface: oneOf(SURFACES), grantId: oneOf(["grant_a", "grant_b", "grant_c"]) };
  const standing = { windowSeconds: 1, accountVersion: randomVersion(), secretEndsAt: 0 };
  const chance = randomInt(0, 100);
  if (chance < 58) return randomCharge(redis, caller, limits);
  if (chance < 68) return drawGrant(redis, { caller, surface: place.surface, ...randomTerms() });
  if (chance < 72) return grants.list(caller, place.surface);
  if (chance < 76) return usage(redis, { caller, ...standing });
  const now = await redisNow(redis);
  if (chance < 84) return grants.put({ ...place, amount: randomInt(0, 5), expiresAtMs: now + randomInt(-500, 2_500) });
  if (chance < 88) return grants.fillOnce({ ...place, amount: randomInt(1, 5) });
  if (chance < 90) return grants.remove(place);
  if (chance < 96) {
    // Raised by an operator's command, by a look-up, or lowered after the store was restored.
    const call = { version: randomInt(1, 9), lifetimeMs: 60_000, deadlineMs: oneOf([0, now + randomInt(-2, 20)]) };
    return raiseVersion(redis, caller.accountId, { ...call, over: oneOf([0, 0, randomInt(1, 9)]) });
  }
  return clockStepsBack(redis, caller, now);
}

/** Undefined: not checked. */
function randomVersion(): number | undefined {
  return oneOf([undefined, randomInt(1, 9), randomInt(6, 9)]);
}

function randomCharge(redis: RedisClient, caller: Caller, limits: Limits): Promise<unknown> {
  const secretEndsAt = oneOf([0, 0, Date.now() + randomInt(-20, 20)]);
  const claim = { caller, surface: oneOf(SURFACES), accountVersion: randomVersion(), secretEndsAt };
  return charge(redis, { ...claim, limits, windowSeconds: 1, ...randomTerms() });
}

function randomTerms() {
  const now = Date.now(); // Redis is on this machine
  return { cost: oneOf([1, 1, 1, 2, 3]), deadlineMs: oneOf([0, now + randomInt(-2, 20), now + 1_000]) };
}

/**
 * Sets the ledger to a window that is one or two ahead, as it would be after Redis's clock stepped back. A real Redis uses
 * the machine's clock, so a test cannot step it.
 */
function clockStepsBack(redis: RedisClient, { accountId, keyId }: Caller, now: number): Promise<unknown> {
  const window = Math.floor(now / 1000) + oneOf([1, 1, 2]);
  const surface = oneOf(SURFACES);
  const used = randomInt(0, 6);
  const counts = [ledgerFields.account(surface), used, ledgerFields.key(keyId, surface), randomInt(0, used + 1)];
  return redis.hset(redisKeys.ledger(accountId), "window", window, ...counts);
}

function oneOf<T>(choices: readonly T[]): T {
  return choices[randomInt(0, choices.length)]!;
}
