import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";

/** A replica that falls before it has served this long is started again only after as long again: no busy loop of crashes. */
const STEADY_MS = 1_000;

interface Ready {
  port: number;
  opsPort: number;
}

/**
 * Runs several replicas that share the port (node:cluster) and puts a new one in the place of any that falls.
 * Resolves when all of them serve. @throws where the first ones cannot start.
 */
export async function superviseReplicas(count: number): Promise<Ready & { stop: () => Promise<void> }> {
  // Each replica accepts for itself. Were connections handed over, one on its way to a replica that falls would hang for ever.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  let stopping = false;
  /** Worker id and since when it runs, by the monotonic clock. */
  const serving = new Map<number, number>();
  cluster.on("exit", (worker) => {
    if (stopping || !serving.has(worker.id)) return;
    const lived = performance.now() - (serving.get(worker.id) ?? 0);
    serving.delete(worker.id);
    void replace(lived < STEADY_MS ? STEADY_MS : 0);
  });

  async function replace(waitMs: number): Promise<void> {
    await setTimeout(waitMs);
    // One that falls before it serves comes back to "exit" above.
    if (!stopping) await startOne().catch(() => undefined);
  }

  async function startOne(): Promise<Ready> {
    const worker = cluster.fork();
    serving.set(worker.id, performance.now());
    return await readyOf(worker);
  }

  async function stop(): Promise<void> {
    stopping = true;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    await Promise.all(
      workers.map(async (worker) => {
        const gone = once(worker, "exit");
        worker.process.kill("SIGTERM");
        await gone;
      }),
    );
  }

  try {
    const all = await Promise.all(Array.from({ length: count }, startOne));
    const [first] = all;
    if (first === undefined) throw new Error("There is no replica to supervise.");
    return { ...first, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Waits for the worker's own word that it serves. @throws where it falls first. */
async function readyOf(worker: Worker): Promise<Ready> {
  const abandoned = new AbortController();
  const ready = once(worker, "message", { signal: abandoned.signal }).then(([message]) => message as Ready);
  const gone = once(worker, "exit", { signal: abandoned.signal }).then(() => {
    throw new Error("A replica fell before it served; its own message is above.");
  });
  try {
    return await Promise.race([ready, gone]);
  } finally {
    abandoned.abort();
    await Promise.allSettled([ready, gone]);
  }
}
