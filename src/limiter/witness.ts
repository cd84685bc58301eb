import { newTypeId } from "../infra/ids.ts";
import { clockTime } from "../infra/redis-connections.ts";
import { RedisEpoch, serverIds } from "../infra/redis-epoch.ts";
import type { RedisClient } from "../infra/redis.ts";

const MAX_MS = 120_000;

/**
 * Runs something that relies on the counts of an account, for up to 120 s, with a mark beside them in Redis.
 * @throws if Redis may have lost counts meanwhile, if there is a mark already, or what `run` throws.
 */
export async function witnessed<T>(redis: RedisClient, accountId: string, run: () => Promise<T>): Promise<T> {
  const [key, mark] = [`{${accountId}}:witness`, newTypeId("req")];
  const epoch = new RedisEpoch(redis);
  const servers = await serverIds(redis);
  const expires = Math.ceil(await clockTime(redis)) + MAX_MS;
  // Both or none: a mark without an expiry would stop every later run.
  await redis.multi().hsetnx(key, "mark", mark).pexpireat(key, expires).exec();
  if ((await redis.hget(key, "mark")) !== mark)
    throw new Error("Another run goes on, or was killed in the last minutes.");
  const [result] = await Promise.allSettled([run()]);
  const isThere = (await redis.hget(key, "mark")) === mark;
  if (isThere) await redis.hdel(key, "mark");
  if (epoch.changes > 0 || (await serverIds(redis)) !== servers) throw new Error("Redis was restarted or failed over.");
  if (!isThere) throw new Error("Redis lost data.");
  if (result.status === "rejected") throw result.reason;
  return result.value;
}
