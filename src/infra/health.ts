import type { DbSystem, Metrics } from "./metrics.ts";
import type { Mongo } from "./mongo.ts";
import { RedisMemory, type RedisMemoryOptions } from "./redis-memory.ts";
import type { RedisClient } from "./redis.ts";

const CHECK_EVERY_MS = 5_000;

export interface HealthOptions {
  mongo: Mongo;
  redis: RedisClient;
  metrics: Metrics;
  /** Whether the service can serve without Redis, because the limiter then counts in memory (LIMITER_ON_OUTAGE=local). */
  servesWithoutRedis: boolean;
  log: RedisMemoryOptions["log"];
}

export class Health {
  readonly #options: HealthOptions;
  readonly #memory: RedisMemory;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#memory = new RedisMemory(options);
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

  /** Checks both, and the memory of Redis, every 5 s, for the metrics. A check that is slow delays the next. */
  watch(): void {
    const check = async (): Promise<void> => {
      await Promise.all([this.faults(), this.#memory.check().catch(() => undefined)]);
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
}
