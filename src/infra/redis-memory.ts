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

/** Watches how full Redis is, and whether it would delete limits to make room. In a cluster, each master. */
export class RedisMemory {
  readonly #options: RedisMemoryOptions;
  /** Those of the last check. */
  readonly #faults = new Set<string>();

  constructor(options: RedisMemoryOptions) {
    this.#options = options;
  }

  /** Reads INFO memory, sets the metrics (NaN if the user may not run INFO), and logs each fault once while it lasts. */
  async check(): Promise<void> {
    const { redis, metrics, log } = this.#options;
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

    if (this.#begins(isUnknown, "unknown policy"))
      log.warn({}, "Redis does not tell its maxmemory-policy (INFO memory): make sure that it is noeviction");
    if (this.#begins(unsafe !== undefined, "unsafe policy"))
      log.error(
        { policy: unsafe?.policy },
        "Redis evicts limits when it is full, so clients may be admitted twice: set maxmemory-policy to noeviction",
      );
    if (this.#begins(isNearlyFull, "nearly full"))
      log.error(
        { used_bytes: fullest.used, max_bytes: fullest.max },
        "Redis has used more than 90 % of maxmemory; when it is full, requests are answered 503: give it more memory",
      );
  }

  /** Returns whether a fault was not there at the last check. */
  #begins(isFault: boolean, name: string): boolean {
    const isNew = isFault && !this.#faults.has(name);
    if (isFault) this.#faults.add(name);
    else this.#faults.delete(name);
    return isNew;
  }
}

interface Memory {
  /** In bytes. */
  readonly used: number;
  /** In bytes; 0 means that there is no limit. */
  readonly max: number;
  readonly policy: string | undefined;
}

const UNKNOWN: Memory = { used: NaN, max: NaN, policy: undefined };

function memoryOf(info: string): Memory {
  const read = (name: string) => new RegExp(`^${name}:(\\S+)`, "m").exec(info)?.[1];
  return {
    used: Number(read("used_memory") ?? 0),
    max: Number(read("maxmemory") ?? 0),
    policy: read("maxmemory_policy"),
  };
}

function fullness({ used, max }: Memory): number {
  return max > 0 ? used / max : 0;
}
