import cluster, { type Worker } from "node:cluster";
import { AggregatorRegistry } from "prom-client";
import type { Config } from "../config.ts";
import { createLog } from "../infra/log.ts";
import { serveOps } from "./ops.ts";
import type { Replica } from "./replica.ts";

/** Pause before a worker is replaced, in milliseconds. Avoids a busy loop of crashes. */
const RESTART_MS = 500;

/**
 * Runs REPLICAS workers that share the port, for development and load tests, and replaces any that exits. Serves OPS_PORT
 * for all of them: it is ready while at least one listens, and adds up their metrics. Resolves once all listen.
 * @param onStop is given `stop` at once: the workers may wait for Redis and MongoDB.
 * @throws if the port is taken, or a worker cannot start; then with `failed`, what is in the log. All are stopped then.
 */
export async function superviseReplicas(config: Config, onStop: (stop: Replica["stop"]) => void): Promise<Replica> {
  const { REPLICAS, OPS_PORT, HOST } = config;
  // Each worker accepts connections itself. One that this process accepted would be lost if its worker died.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  // JSON would turn a NaN among the metrics into null.
  cluster.setupPrimary({ serialization: "advanced" });
  const listening = new Set<Worker>();
  const restoring = new Set<Worker>();
  const registry = new AggregatorRegistry();
  let stopping = false;

  async function faults(deep: boolean): Promise<string[]> {
    const closed = restoring.size > 0 ? ["restoring"] : [];
    const own = stopping ? ["draining"] : listening.size === 0 ? ["starting"] : closed;
    const metrics = deep ? await registry.clusterMetrics().catch(() => "") : "";
    const down = metrics.matchAll(/^dependency_up\{db_system_name="(\w+)"\} 0$/gm);
    return [...own, ...Array.from(down, ([, server]) => `${server} does not answer`)];
  }

  const ops = await serveOps({ faults, metrics: () => registry.clusterMetrics() }, OPS_PORT, HOST);

  async function stop(): Promise<void> {
    stopping = true;
    const workers = Object.values(cluster.workers ?? {}).flatMap((worker) =>
      worker?.isDead() === false ? worker : [],
    );
    for (const { process } of workers) process.kill("SIGTERM");
    await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once("exit", resolve))));
    ops.close();
  }
  onStop(stop);

  const start = () => stopping || cluster.fork();

  const started = new Promise<number>((resolve, reject) => {
    cluster.on("listening", (worker, { port }) => {
      listening.add(worker);
      if (listening.size === REPLICAS) resolve(port);
    });
    cluster.on("fork", (worker) => {
      worker.on("error", (error) => {
        // One that ends while it is asked for its metrics has an exit, and is replaced. One that cannot start has none.
        if (worker.process.pid === undefined) throw error;
      });
    });
    cluster.on("message", (worker, { failed, isRestoring }: { failed?: object; isRestoring?: boolean }) => {
      if (isRestoring === true) restoring.add(worker);
      if (isRestoring === false) restoring.delete(worker);
      if (failed === undefined || stopping) return;
      createLog("fatal").fatal({ error: failed }, "a worker cannot start");
      reject(Object.assign(new Error(), { failed }));
    });
    cluster.on("disconnect", () => stopping || reject(new Error("A worker was killed before it served.")));
    cluster.on("exit", (worker) => {
      listening.delete(worker);
      restoring.delete(worker);
      setTimeout(start, RESTART_MS);
    });
  });
  for (let n = 0; n < REPLICAS; n++) start();
  try {
    return { port: await started, opsPort: ops.port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
