import { Redis } from "ioredis";
import { connectRedis, type RedisClient } from "../../src/infra/redis.ts";
import { SetupError } from "../../src/dev/output.ts";
import type { Bench } from "./bench.ts";

/** No other part uses it. Its keys are not those of a service that uses the same Redis. */
const DATABASE = 15;
/** Redis may be held up for seconds when it has to remove millions of keys. */
const TIMEOUT_MS = 60_000;

/** The bench on a database of Redis that holds nothing else, with the client that the service has. */
export type FilledBench = Bench & { readonly charges: RedisClient };

/**
 * Runs `measure` with an empty database of the same Redis, and empties it afterwards. Meanwhile Redis does not write its
 * append-only file anew: so much is written in a minute that it would do so in every measurement.
 * @throws {SetupError} if the database has keys.
 */
export async function withEmptyDatabase<T>(bench: Bench, measure: (filled: FilledBench) => Promise<T>): Promise<T> {
  const url = new URL(bench.redisUrl);
  url.pathname = `/${DATABASE}`;
  const redisUrl = url.href;
  const redis = new Redis(redisUrl);
  const rewrites = "auto-aof-rewrite-percentage";
  const before = (await redis.config("GET", rewrites))[1] ?? "100";
  try {
    if ((await redis.dbsize()) > 0)
      throw new SetupError(`The bench fills and empties database ${DATABASE} of Redis, but it has keys.`);
    await redis.config("SET", rewrites, "0");
    const charges = await connectRedis({ url: redisUrl, timeoutMs: TIMEOUT_MS });
    try {
      return await measure({ ...bench, redisUrl, redis, charges });
    } finally {
      charges.disconnect();
      await redis.flushdb("SYNC");
      await redis.config("SET", rewrites, before);
    }
  } finally {
    redis.disconnect();
  }
}
