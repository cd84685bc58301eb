import type { Bench } from "./bench.ts";
import { cpuOf, cpuOfRedis } from "./cpu.ts";
import { type Comparison, inTurns, type Rounds } from "./in-turns.ts";
import type { RunResult } from "./load.ts";

/** A server under load. */
export interface Target {
  readonly id: string;
  readonly pid: number;
  readonly port: number;
  readonly requests: readonly string[];
  /** The status that every answer must have. */
  readonly status: number;
}

/** One measurement of one target. Times are microseconds of CPU for each request. */
export interface Slice extends RunResult {
  readonly server: number;
  readonly redis: number;
}

/** A slice begins with caches that hold the previous target's data. This much of it is not measured. */
const SETTLE_SECONDS = 0.05;

/**
 * Warms all targets up, then measures them in turn.
 * @throws if a target answers with another status, or breaks off.
 */
export async function alternate(
  bench: Bench,
  targets: readonly Target[],
  { connections, compared }: { connections: number; compared: readonly Comparison<Slice>[] },
): Promise<Rounds<Slice>> {
  const { slice, warmUp } = bench.options;
  for (const target of targets) await measure(bench, target, { connections, seconds: warmUp });
  const measures = targets.map(
    (target) => [target.id, () => measure(bench, target, { connections, seconds: slice })] as const,
  );
  return inTurns(bench.options, Object.fromEntries(measures), compared);
}

export function serverCpu({ server }: Pick<Slice, "server">): number {
  return server;
}

/** Measures one target for some seconds. */
export async function measure(
  { generator, redis, signal }: Pick<Bench, "generator" | "redis" | "signal">,
  { id, pid, port, requests, status }: Target,
  { connections, seconds }: { connections: number; seconds: number },
): Promise<Slice> {
  signal.throwIfAborted();
  const used = async () => ({ server: cpuOf(pid), redis: await cpuOfRedis(redis) });
  return generator.connected(port, connections, async (load) => {
    await load({ requests, seconds: SETTLE_SECONDS });
    const before = await used();
    const result = await load({ requests, seconds });
    const after = await used();
    const { statuses, count } = result;
    if (statuses[status] !== count)
      throw new Error(`${id} was to answer ${status} only, but answered ${JSON.stringify(statuses)}.`);
    return {
      ...result,
      server: (after.server - before.server) / count,
      redis: (after.redis - before.redis) / count,
    };
  });
}
