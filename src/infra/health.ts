import type { Mongo } from "./mongo.ts";
import { memoryCheck, type RedisMemoryOptions } from "./redis-memory.ts";

const CHECK_EVERY_MS = 5_000;

interface HealthOptions extends RedisMemoryOptions {
  readonly mongo: Mongo;
}

export class Health {
  readonly #options: HealthOptions;
  readonly #checkMemory: () => Promise<void>;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#checkMemory = memoryCheck(options);
  }

  /** Pings both servers, and returns one text for each that does not respond. */
  async faults(): Promise<string[]> {
    const { mongo, redis, metrics } = this.#options;
    const [isRedisUp, isMongoUp] = await Promise.all([
      this.#isUp("redis", () => metrics.timed("redis", "ping", () => redis.ping())),
      this.#isUp("mongodb", () =>
        mongo.bounded("ping admin", (limits) => mongo.db.command({ ping: 1, maxTimeMS: limits.maxTimeMS }, limits)),
      ),
    ]);
    return [...(isRedisUp ? [] : ["redis does not answer"]), ...(isMongoUp ? [] : ["mongodb does not answer"])];
  }

  async #isUp(server: "redis" | "mongodb", ping: () => Promise<unknown>): Promise<boolean> {
    const isUp = await ping().then(
      () => true,
      () => false,
    );
    this.#options.metrics.dependencyUp.set({ db_system_name: server }, Number(isUp));
    return isUp;
  }

  /** Checks both servers, and the memory of Redis, every 5 s, for the metrics. A check that is slow delays the next. */
  watch(): void {
    const check = async (): Promise<void> => {
      await Promise.all([this.faults(), this.#checkMemory().catch(() => undefined)]);
      if (this.#timer !== undefined) this.#timer = setTimeout(() => void check(), CHECK_EVERY_MS).unref();
    };
    this.#timer = setTimeout(() => void check(), 0).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
