import type { Config } from "../config.ts";
import { findServers } from "../dev/servers-file.ts";
import type { Mongo } from "../infra/mongo.ts";
import type { RedisClient } from "../infra/redis.ts";

/** A server that no setting names, or that cannot be reached: one line on what to do. */
export class ConnectError extends Error {}

/** MongoDB and Redis of the settings, or those that npm start runs on DATA_DIR; each connected to when it is first asked for. */
export class Servers {
  readonly #config: Config;
  #mongo: Promise<Mongo> | undefined;
  #redis: Promise<RedisClient> | undefined;

  constructor(config: Config) {
    this.#config = config;
  }

  /** @throws {ConnectError} */
  mongo(): Promise<Mongo> {
    return (this.#mongo ??= this.#connectMongo());
  }

  /** @throws {ConnectError} or what the connection fails with, which names the address without its password. */
  redis(): Promise<RedisClient> {
    return (this.#redis ??= this.#connectRedis());
  }

  /** Lets go of what was connected to. */
  async close(): Promise<void> {
    const [mongo, redis] = await Promise.allSettled([this.#mongo, this.#redis]);
    if (redis.status === "fulfilled") redis.value?.disconnect();
    if (mongo.status === "fulfilled") await mongo.value?.close();
  }

  async #connectMongo(): Promise<Mongo> {
    const { MONGODB_URL, DATA_DIR, STORE_TIMEOUT_MS: timeoutMs } = this.#config;
    const url = MONGODB_URL ?? (await findServers(DATA_DIR)).mongodbUrl;
    if (url === undefined) throw notFound("MongoDB", "MONGODB_URL");
    const { connectMongo } = await import("../infra/mongo.ts"); // a driver takes longer to load than most commands to run
    return connectMongo({ url, timeoutMs }).catch((cause: unknown) => {
      throw new ConnectError("MongoDB cannot be reached; see MONGODB_URL.", { cause });
    });
  }

  async #connectRedis(): Promise<RedisClient> {
    const { REDIS_URL, DATA_DIR, STORE_TIMEOUT_MS: timeoutMs } = this.#config;
    const url = REDIS_URL ?? (await findServers(DATA_DIR)).redisUrl;
    if (url === undefined) throw notFound("Redis", "REDIS_URL");
    const { connectRedis } = await import("../infra/redis.ts");
    // An operator waits longer than a request does, so this is not LIMITER_TIMEOUT_MS.
    return connectRedis({ url, timeoutMs });
  }
}

function notFound(server: string, setting: string): ConnectError {
  return new ConnectError(`No ${server} to work with: set ${setting}, or run npm start first (with the same DATA_DIR).`);
}
