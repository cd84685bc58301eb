import type { Cluster, Redis } from "ioredis";
import { forEachConnection, serverOf } from "./redis-connections.ts";
import { type RedisClient, unlessForbidden } from "./redis.ts";

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

/** Returns a value that changes when a master is restarted or replaced. Empty if the user may not run INFO. */
export async function serverIds(redis: RedisClient): Promise<string> {
  const nodes = redis.isCluster ? (redis as Cluster).nodes("master") : [redis as Redis];
  const infos = await Promise.all(nodes.map((node) => node.info())).catch(unlessForbidden);
  const ids = infos.flatMap((info) => info.match(/^(run_id|role|master_replid):.*$/gm) ?? []);
  return ids.toSorted().join();
}
