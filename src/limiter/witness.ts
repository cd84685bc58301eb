import { clockTime } from "../infra/redis-connections.ts";
import { RedisEpoch, serverIds } from "../infra/redis-epoch.ts";
import type { RedisClient } from "../infra/redis.ts";

const MAX_MS = 120_000;

/**
 * Tells whether Redis could lose counts of an account while something runs, for up to 120 s. Leaves a mark beside them.
 * @returns a function that removes the mark, and returns why counts may be lost; undefined if they are not.
 * @throws if there is a mark already.
 */
export async function witness(redis: RedisClient, accountId: string, mark: string) {
  const key = `{${accountId}}:witness`;
  const epoch = new RedisEpoch(redis);
  const servers = await serverIds(redis);
  if ((await redis.hsetnx(key, "mark", mark)) === 0)
    throw new Error("Another run goes on, or was killed in the last minutes.");
  await redis.pexpireat(key, Math.ceil(await clockTime(redis)) + MAX_MS);
  return async (): Promise<string | undefined> => {
    const isThere = (await redis.hget(key, "mark")) === mark;
    if (isThere) await redis.hdel(key, "mark");
    if (epoch.changes > 0 || (await serverIds(redis)) !== servers) return "Redis was restarted or failed over.";
    return isThere ? undefined : "Redis lost data.";
  };
}
