import type { MongoClient } from "mongodb";
import type { Metrics } from "./metrics.ts";

type Pool = Record<"total" | "used" | "pending", number>;

/** Reports the connections of a client's pools, one pool for each server. Call it before the client connects. */
export function watchPool(client: MongoClient, metrics: Metrics): void {
  const pools = new Map<string, Pool>();

  /** Ignores the events of a pool that was closed. */
  function count(address: string, by: Partial<Pool>): void {
    const pool = pools.get(address);
    if (pool === undefined) return;
    for (const member of ["total", "used", "pending"] as const) pool[member] += by[member] ?? 0;
  }

  client.on("connectionPoolCreated", ({ address }) => pools.set(address, { total: 0, used: 0, pending: 0 }));
  client.on("connectionPoolClosed", ({ address }) => pools.delete(address));
  client.on("connectionCreated", ({ address }) => count(address, { total: 1 }));
  client.on("connectionClosed", ({ address }) => count(address, { total: -1 }));
  client.on("connectionCheckOutStarted", ({ address }) => count(address, { pending: 1 }));
  client.on("connectionCheckedOut", ({ address }) => count(address, { pending: -1, used: 1 }));
  client.on("connectionCheckedIn", ({ address }) => count(address, { used: -1 }));
  client.on("connectionCheckOutFailed", ({ address, reason }) => {
    count(address, { pending: -1 });
    if (reason === "timeout") metrics.connectionTimeouts.inc({ db_system_name: "mongodb" });
  });

  metrics.readPool = () => {
    const sum = (member: keyof Pool) => [...pools.values()].reduce((total, pool) => total + pool[member], 0);
    const used = sum("used");
    return { used, idle: sum("total") - used, pending: sum("pending"), max: client.options.maxPoolSize };
  };
}
