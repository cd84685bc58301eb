import { Redis } from "ioredis";
import { connectRedis, type RedisClient } from "../../src/infra/redis.ts";
import { SetupError } from "../../src/dev/output.ts";

/** No other part uses it. Its keys are not those of a service that uses the same Redis. */
const DATABASE = 15;
/** Redis may be held up for seconds when it has to remove millions of keys. */
const TIMEOUT_MS = 60_000;

/** A database of Redis that holds nothing else. `charges` is the client that the service has. */
export interface EmptyDatabase {
  readonly redis: Redis;
  readonly charges: RedisClient;
}

/**
 * Runs `measure` with an empty database of a Redis server, and empties it afterwards. Meanwhile Redis does not write its
 * append-only file anew: so much is written in a minute that it would do so in every measurement.
 * @throws {SetupError} if the database has keys.
 */
export async function withEmptyDatabase<T>(
  redisUrl: string,
  measure: (database: EmptyDatabase) => Promise<T>,
): Promise<T> {
  const url = new URL(redisUrl);
  url.pathname = `/${DATABASE}`;
  const redis = new Redis(url.href);
  const rewrites = "auto-aof-rewrite-percentage";
  const before = (await redis.config("GET", rewrites))[1] ?? "100";
  try {
    if ((await redis.dbsize()) > 0)
      throw new SetupError(`The bench fills and empties database ${DATABASE} of Redis, but it has keys.`);
    await redis.config("SET", rewrites, "0");
    const charges = await connectRedis({ url: url.href, timeoutMs: TIMEOUT_MS });
    try {
      return await measure({ redis, charges });
    } finally {
      charges.disconnect();
      await redis.flushdb("SYNC");
      await redis.config("SET", rewrites, before);
    }
  } finally {
    redis.disconnect();
  }
}
