import type { Cluster, Redis } from "ioredis";
import type { DbSystem, Metrics } from "./metrics.ts";
import type { Mongo } from "./mongo.ts";
import type { RedisClient } from "./redis.ts";

const CHECK_EVERY_MS = 5_000;

export interface HealthOptions {
  mongo: Mongo;
  redis: RedisClient;
  metrics: Metrics;
  /** Whether the service can serve without Redis, because the limiter then counts in memory (LIMITER_ON_OUTAGE=local). */
  servesWithoutRedis: boolean;
}

export class Health {
  readonly #options: HealthOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
  }

  /** Asks both, and returns one text for each that does not answer and is needed. One round trip to each. */
  async faults(): Promise<string[]> {
    const { mongo, redis, metrics, servesWithoutRedis } = this.#options;
    const checks: Record<DbSystem, () => Promise<unknown>> = {
      redis: () => metrics.timed("ping", () => redis.ping()),
      mongodb: () =>
        mongo.bounded("ping admin", (limits) => mongo.db.command({ ping: 1, maxTimeMS: limits.maxTimeMS }, limits)),
    };
    const answers = await Promise.all(
      (Object.keys(checks) as DbSystem[]).map(async (name) => ({ name, up: await this.#answers(name, checks[name]) })),
    );
    return answers
      .filter(({ name, up }) => !up && !(name === "redis" && servesWithoutRedis))
      .map(({ name }) => `${name} does not answer`);
  }

  /** Checks both every 5 s, for the metrics. A check that is slow delays the next. */
  watch(): void {
    const check = async (): Promise<void> => {
      await Promise.all([this.faults(), this.#readMemory().catch(() => undefined)]);
      if (this.#timer !== undefined) this.#timer = setTimeout(() => void check(), CHECK_EVERY_MS).unref();
    };
    this.#timer = setTimeout(() => void check(), 0).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #answers(db_system_name: DbSystem, check: () => Promise<unknown>): Promise<boolean> {
    const up = await check().then(
      () => true,
      () => false,
    );
    this.#options.metrics.dependencyUp.set({ db_system_name }, up ? 1 : 0);
    return up;
  }

  /** Reads how full Redis is. In a cluster, the fullest master counts. */
  async #readMemory(): Promise<void> {
    const { redis, metrics } = this.#options;
    const nodes: Redis[] = redis.isCluster ? (redis as Cluster).nodes("master") : [redis as Redis];
    const infos = await Promise.all(nodes.map((node) => metrics.timed("info", () => node.info("memory"))));
    const fullest = infos.map(memoryOf).toSorted((one, other) => fullness(other) - fullness(one))[0];
    if (fullest === undefined) return;
    metrics.redisMemoryUsed.set(fullest.used);
    metrics.redisMemoryMax.set(fullest.max);
  }
}

interface Memory {
  readonly used: number;
  /** 0 means that there is no limit. */
  readonly max: number;
}

function memoryOf(info: string): Memory {
  const read = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1] ?? 0);
  return { used: read("used_memory"), max: read("maxmemory") };
}

function fullness({ used, max }: Memory): number {
  return max === 0 ? 0 : used / max;
}
