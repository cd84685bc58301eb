import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { Config } from "../config.ts";
import { FleetOps } from "./fleet-ops.ts";
import { serveOps } from "./ops.ts";

/** If a replica exits within this many milliseconds, wait as long before replacing it. Avoids a busy loop of crashes. */
const STEADY_MS = 1_000;

interface Ready {
  readonly port: number;
}

/**
 * Runs REPLICAS processes that share the port, and replaces any that exits. Answers operators on OPS_PORT for all of
 * them. Resolves when all of them serve.
 * @throws if the port is taken, or one of the first replicas cannot start. All are stopped then.
 */
export async function superviseReplicas({
  REPLICAS,
  OPS_PORT,
  HOST,
}: Config): Promise<Ready & { opsPort: number; stop: () => Promise<void> }> {
  // Each replica accepts connections itself. If this process accepted them and handed them over, a connection could be
  // lost on its way to a replica that ends.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  // Messages as JSON would take several milliseconds for the metrics of a busy replica, in its process and in this one.
  cluster.setupPrimary({ serialization: "advanced" });
  let stopping = false;
  /** When each worker started, by `performance.now()`. Keys are worker ids. */
  const startedAt = new Map<number, number>();
  const running = () => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  const fleet = new FleetOps({ workers: running, draining: () => stopping });
  cluster.on("exit", (worker) => {
    fleet.ended(worker);
    if (stopping || !startedAt.has(worker.id)) return;
    const uptime = performance.now() - (startedAt.get(worker.id) ?? 0);
    startedAt.delete(worker.id);
    void replace(uptime < STEADY_MS ? STEADY_MS : 0);
  });

  async function replace(waitMs: number): Promise<void> {
    await setTimeout(waitMs);
    // If the new one exits before it serves, the "exit" handler above replaces it again.
    if (!stopping) await startOne().catch(() => undefined);
  }

  async function startOne(): Promise<Ready> {
    const worker = cluster.fork();
    startedAt.set(worker.id, performance.now());
    return await readyOf(worker);
  }

  async function stop(): Promise<void> {
    stopping = true;
    await Promise.all(
      running().map(async (worker) => {
        const exited = once(worker, "exit");
        worker.process.kill("SIGTERM");
        await exited;
      }),
    );
  }

  const ops = await serveOps(fleet, OPS_PORT, HOST);
  try {
    const all = await Promise.all(Array.from({ length: REPLICAS }, startOne));
    const [first] = all;
    if (first === undefined) throw new Error("There is no replica to supervise.");
    return { ...first, opsPort: ops.port, stop: () => stop().then(() => ops.close()) };
  } catch (error) {
    await stop();
    ops.close();
    throw error;
  }
}

/** Waits for the worker's message that it serves. @throws if the worker exits first. */
function readyOf(worker: Worker): Promise<Ready> {
  return new Promise((resolve, reject) => {
    worker.on("message", (message: Ready & { type?: string }) => {
      if (message.type === "ready") resolve(message);
    });
    worker.once("exit", () => reject(new Error("A replica exited before it served. Its own message is above.")));
  });
}
