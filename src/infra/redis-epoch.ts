import type { Cluster, Redis } from "ioredis";
import { serverOf } from "./redis-nodes.ts";
import type { RedisClient } from "./redis.ts";

/**
 * Tells whether a client still speaks with the same Redis as before. After a failover another server answers, and it may
 * have lost the last writes. So what a replica has cached beside Redis is good for one epoch only.
 */
export class RedisEpoch {
  readonly #redis: RedisClient;
  #connections = 0;
  #changes = 0;

  constructor(redis: RedisClient) {
    this.#redis = redis;
    const watch = (node: Redis): void => {
      node.on("ready", () => {
        this.#connections++;
        this.#changes++;
      });
      node.on("close", () => this.#changes++);
    };
    if (redis.isCluster) {
      (redis as Cluster).nodes("all").forEach(watch);
      (redis as Cluster).on("+node", watch);
    } else {
      watch(redis as Redis);
    }
  }

  /** How often the client has connected. */
  get connections(): number {
    return this.#connections;
  }

  /** How often a connection was lost or made. */
  get changes(): number {
    return this.#changes;
  }

  /**
   * Returns a value that changes when the client has connected again, and in a cluster also when another master serves the
   * account. No round trip.
   */
  of(accountId: string): string | number {
    return this.#redis.isCluster ? `${this.#connections} ${serverOf(this.#redis, accountId)}` : this.#connections;
  }
}
