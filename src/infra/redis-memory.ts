import type { Cluster, Redis } from "ioredis";
import type { Metrics } from "./metrics.ts";
import { type RedisClient, type RedisLog, unlessForbidden } from "./redis.ts";

/** The only policy under which a full Redis refuses writes, and does not delete limits. */
const SAFE_POLICY = "noeviction";
/** Share of maxmemory above which Redis counts as nearly full. */
const NEARLY_FULL = 0.9;

export interface RedisMemoryOptions {
  readonly redis: RedisClient;
  readonly metrics: Metrics;
  readonly log: RedisLog & { error(fields: object, message: string): void };
}

/**
 * Returns a function that reads how full Redis is, and whether it would delete limits to make room; in a cluster, each
 * master. It sets the metrics (NaN if the user may not run INFO), and logs each fault once while it lasts.
 */
export function memoryCheck({ redis, metrics, log }: RedisMemoryOptions): () => Promise<void> {
  const lasting = new Set<string>();
  const begins = (isFault: boolean, name: string): boolean => {
    const isNew = isFault && !lasting.has(name);
    if (isFault) lasting.add(name);
    else lasting.delete(name);
    return isNew;
  };
  return async () => {
    const nodes: Redis[] = redis.isCluster ? (redis as Cluster).nodes("master") : [redis as Redis];
    if (nodes.length === 0) return;
    const reading = Promise.all(nodes.map((node) => metrics.timed("redis", "info", () => node.info("memory"))));
    const all = (await reading.catch(unlessForbidden)).map(memoryOf);
    const fullest = all.toSorted((one, other) => fullness(other) - fullness(one))[0] ?? UNKNOWN;
    const unsafe = all.find(({ policy }) => policy !== undefined && policy !== SAFE_POLICY);
    const isUnknown = unsafe === undefined && (all.length === 0 || all.some(({ policy }) => policy === undefined));
    const isNearlyFull = unsafe === undefined && fullness(fullest) > NEARLY_FULL;
    metrics.redisMemory.used.set(fullest.used);
    metrics.redisMemory.max.set(fullest.max);
    metrics.redisMemory.policyUnsafe.set(isUnknown ? NaN : Number(unsafe !== undefined));
    metrics.redisMemory.nearlyFull.set(Number.isNaN(fullest.max) ? NaN : Number(isNearlyFull));

    if (begins(isUnknown, "unknown policy"))
      log.warn({}, "Redis does not tell its maxmemory-policy (INFO memory): make sure that it is noeviction");
    if (begins(unsafe !== undefined, "unsafe policy"))
      log.error(
        { policy: unsafe?.policy },
        "Redis evicts limits when it is full, so clients may be admitted twice: set maxmemory-policy to noeviction",
      );
    if (begins(isNearlyFull, "nearly full"))
      log.error(
        { used_bytes: fullest.used, max_bytes: fullest.max },
        "Redis has used more than 90 % of maxmemory; when it is full, requests are answered 503: give it more memory",
      );
  };
}

const UNKNOWN = { used: NaN, max: NaN };

/** Returns bytes. A maximum of 0 means that there is no limit. */
function memoryOf(info: string) {
  const read = (name: string) => new RegExp(`^${name}:(\\S+)`, "m").exec(info)?.[1];
  const bytes = (name: string) => Number(read(name) ?? 0);
  return { used: bytes("used_memory"), max: bytes("maxmemory"), policy: read("maxmemory_policy") };
}

function fullness({ used, max }: typeof UNKNOWN): number {
  return max > 0 ? used / max : 0;
}
