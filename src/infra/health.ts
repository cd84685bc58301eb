import { setTimeout as wait } from "node:timers/promises";
import type { Mongo } from "./mongo.ts";
import { memoryCheck, type RedisMemoryOptions } from "./redis-memory.ts";

const CHECK_EVERY_MS = 5_000;

export function healthChecks({ mongo, redis, metrics, log }: RedisMemoryOptions & { readonly mongo: Mongo }) {
  const checkMemory = memoryCheck({ redis, metrics, log });
  const stopping = new AbortController();

  /** Pings both servers, and returns one text for each that does not respond. */
  async function faults(): Promise<string[]> {
    const [isRedisUp, isMongoUp] = await Promise.all([
      isUp("redis", () => metrics.timed("redis", "ping", () => redis.ping())),
      isUp("mongodb", () =>
        mongo.bounded("ping admin", (limits) => mongo.db.command({ ping: 1, maxTimeMS: limits.maxTimeMS }, limits)),
      ),
    ]);
    return [...(isRedisUp ? [] : ["redis does not answer"]), ...(isMongoUp ? [] : ["mongodb does not answer"])];
  }

  async function isUp(server: "redis" | "mongodb", ping: () => Promise<unknown>): Promise<boolean> {
    const isThere = await ping().then(Boolean, () => false);
    metrics.dependencyUp.set({ db_system_name: server }, Number(isThere));
    return isThere;
  }

  /** Checks both servers, and the memory of Redis, every 5 s, for the metrics. A check that is slow delays the next. */
  async function watch(): Promise<void> {
    const { signal } = stopping;
    do await Promise.all([faults(), checkMemory().catch(() => undefined)]);
    while (await wait(CHECK_EVERY_MS, true, { signal, ref: false }).catch(() => false));
  }

  return { faults, watch: () => void watch(), stop: () => stopping.abort() };
}
