import type { Bench } from "./bench.ts";
import { cpuOf, cpuOfRedis, scriptCalls } from "./cpu.ts";
import { type Compared, inTurns, type Rounds } from "./in-turns.ts";
import type { Run, RunResult } from "./load.ts";

/** A server under load. */
export interface Target {
  readonly id: string;
  readonly pids: readonly number[];
  readonly port: number;
  readonly requests: readonly string[];
  /** The status that every answer must have. */
  readonly status: number;
}

/** One measurement of one target. Times are microseconds of CPU for each request. */
export interface Slice extends RunResult {
  readonly server: number;
  readonly redis: number;
  /** Time in which the server was ready to run and waited for a core, for each of its own microseconds. */
  readonly waited: number;
  /** Scripts that Redis ran for each request. */
  readonly scripts: number;
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
  { connections, compared }: { connections: number; compared: Compared },
): Promise<Rounds<Slice>> {
  const { slice, warmUp } = bench.options;
  for (const target of targets) await measure(bench, target, { connections, seconds: warmUp });
  const measures = targets.map(
    (target) => [target.id, () => measure(bench, target, { connections, seconds: slice })] as const,
  );
  return inTurns(bench.options, Object.fromEntries(measures), { compared, cost: serverCpu });
}

/** The server's CPU for each request. */
export function serverCpu({ server }: Slice): number {
  return server;
}

/** Measures one target for some seconds. */
export async function measure(
  { generator, redis, signal }: Pick<Bench, "generator" | "redis" | "signal">,
  target: Target,
  { connections, seconds }: { connections: number; seconds: number },
): Promise<Slice> {
  signal.throwIfAborted();
  const run: Run = { requests: target.requests, seconds };
  const read = async () => [readAll(target.pids), await cpuOfRedis(redis), await scriptCalls(redis)] as const;
  return generator.connected(target.port, connections, async (load) => {
    await load({ ...run, seconds: SETTLE_SECONDS });
    const before = await read();
    const result = await load(run);
    const after = await read();
    refuseOthers(target, result);
    const used = after[0].used - before[0].used;
    return {
      ...result,
      server: used / result.count,
      redis: (after[1] - before[1]) / result.count,
      waited: (after[0].waited - before[0].waited) / used,
      scripts: (after[2] - before[2]) / result.count,
    };
  });
}

function readAll(pids: readonly number[]): { used: number; waited: number } {
  const all = pids.map(cpuOf);
  return {
    used: all.reduce((sum, { used }) => sum + used, 0),
    waited: all.reduce((sum, { waited }) => sum + waited, 0),
  };
}

function refuseOthers({ id, status }: Target, { statuses, count }: RunResult): void {
  if (statuses[status] === count) return;
  throw new Error(`${id} was to answer ${status} only, but answered ${JSON.stringify(statuses)}.`);
}
