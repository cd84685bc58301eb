import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { AggregatorRegistry } from "prom-client";
import type { Config } from "../config.ts";
import { serveOps } from "./ops.ts";
import type { Replica } from "./replica.ts";

/** Pause before a worker is replaced, in milliseconds. Avoids a busy loop of crashes. */
const RESTART_MS = 500;

/**
 * Runs REPLICAS workers that share the port, for development and load tests, and replaces any that exits. Serves OPS_PORT
 * for all of them: it is ready while at least one listens, and adds up their metrics. Resolves once all listen.
 * @throws if the port is taken, or a worker cannot start. All are stopped then.
 */
export async function superviseReplicas({ REPLICAS, OPS_PORT, HOST }: Config): Promise<Replica> {
  // Each worker accepts connections itself. One that this process accepted would be lost if its worker died.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  // JSON would turn a NaN among the metrics into null.
  cluster.setupPrimary({ serialization: "advanced" });
  const listening = new Set<Worker>();
  const registry = new AggregatorRegistry();
  let stopping = false;

  async function faults(): Promise<string[]> {
    if (stopping) return ["draining"];
    if (listening.size === 0) return ["starting"];
    const metrics = await registry.clusterMetrics().catch(() => "");
    return /^onboarding_restoring 1$/m.test(metrics) ? ["restoring"] : [];
  }

  const ops = await serveOps({ faults, metrics: () => registry.clusterMetrics() }, OPS_PORT, HOST);

  async function stop(): Promise<void> {
    stopping = true;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    for (const { process } of workers) process.kill("SIGTERM");
    await Promise.all(workers.map((worker) => once(worker, "exit")));
    ops.close();
  }

  function start(): void {
    if (!stopping) cluster.fork();
  }

  const started = new Promise<number>((resolve, reject) => {
    cluster.on("listening", (worker, { port }) => {
      listening.add(worker);
      if (listening.size === REPLICAS) resolve(port);
    });
    cluster.on("exit", (worker) => {
      listening.delete(worker);
      reject(new Error("A worker exited during startup; see its error above."));
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
