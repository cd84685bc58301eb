import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { Config } from "../config.ts";
import { FleetOps } from "./fleet-ops.ts";
import { HandOut } from "./hand-out.ts";
import { serveOps } from "./ops.ts";

/** If a replica exits within this many milliseconds, wait as long before replacing it. Avoids a busy loop of crashes. */
const STEADY_MS = 1_000;

/**
 * Runs REPLICAS processes that share the port (node:cluster), and replaces any that exits. Accepts the connections for all
 * of them, and answers operators on OPS_PORT. Resolves when all of them serve.
 * @throws if one of the first replicas cannot start, or a port is taken. All are stopped then.
 */
export async function superviseReplicas({
  REPLICAS,
  PORT,
  OPS_PORT,
  HOST,
}: Config): Promise<{ port: number; opsPort: number; stop: () => Promise<void> }> {
  // Messages as JSON would take several milliseconds for the metrics of a busy replica, in its process and in this one.
  cluster.setupPrimary({ serialization: "advanced" });
  let stopping = false;
  /** When each worker started, by `performance.now()`. Keys are worker ids. */
  const startedAt = new Map<number, number>();
  const running = () => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
  const handOut = new HandOut();
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

  async function startOne(): Promise<void> {
    const worker = cluster.fork();
    startedAt.set(worker.id, performance.now());
    await readyOf(worker);
    handOut.add(worker);
  }

  async function stop(): Promise<void> {
    stopping = true;
    const exits = running().map(async (worker) => {
      const exited = once(worker, "exit");
      worker.process.kill("SIGTERM");
      await exited;
    });
    await Promise.all([handOut.close(), ...exits]);
  }

  const ops = await serveOps(fleet, OPS_PORT, HOST);
  try {
    await Promise.all(Array.from({ length: REPLICAS }, startOne));
    const port = await handOut.listen(PORT, HOST);
    return { port, opsPort: ops.port, stop: () => stop().then(() => ops.close()) };
  } catch (error) {
    await stop();
    ops.close();
    throw error;
  }
}

/** Waits for the worker's message that it serves. While it starts, it also answers the supervisor's questions. */
async function readyMessage(worker: Worker, signal: AbortSignal): Promise<void> {
  for (;;) {
    const [message] = (await once(worker, "message", { signal })) as [{ type?: string }];
    if (message.type === "ready") return;
  }
}

/** Waits for the worker's message that it serves. @throws if the worker exits first. */
async function readyOf(worker: Worker): Promise<void> {
  const abandoned = new AbortController();
  const ready = readyMessage(worker, abandoned.signal);
  const exited = once(worker, "exit", { signal: abandoned.signal }).then(() => {
    throw new Error("A replica exited before it served. Its own message is above.");
  });
  try {
    await Promise.race([ready, exited]);
  } finally {
    abandoned.abort();
    await Promise.allSettled([ready, exited]);
  }
}
