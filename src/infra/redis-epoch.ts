import { forEachConnection, serverOf } from "./redis-connections.ts";
import type { RedisClient } from "./redis.ts";

/**
 * Tells whether a client still speaks with the same Redis. After a failover another server replies, which may have lost the
 * last writes. So what a replica caches beside Redis is valid for one epoch only.
 */
export class RedisEpoch {
  readonly #redis: RedisClient;
  /** Number of times the client has connected. */
  connections = 0;
  /** Number of times a connection was lost or made. */
  changes = 0;

  constructor(redis: RedisClient) {
    this.#redis = redis;
    forEachConnection(redis, (connection) => {
      connection.on("ready", () => {
        this.connections++;
        this.changes++;
      });
      connection.on("close", () => this.changes++);
    });
  }

  /** Returns a value that changes when the client reconnects, and when another master of a cluster serves the account. */
  of(accountId: string): string | number {
    return this.#redis.isCluster ? `${this.connections} ${serverOf(this.#redis, accountId)}` : this.connections;
  }
}
