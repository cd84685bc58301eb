import { readFileSync } from "node:fs";

const SAMPLE_MS = 20;

/** How long the kernel kept processes waiting for a CPU, as Linux counts it for their event loops' thread. */
export interface RunQueue {
  /** Milliseconds that the process waited between two times (`Date.now()`), rounded up to whole samples. */
  waitedMs(pid: number, from: number, to: number): number;
  stop(): void;
}

/** Watches these processes. Where there is no /proc/PID/schedstat, nobody ever waited. */
export function watchRunQueue(pids: readonly number[]): RunQueue {
  const samples = new Map(pids.map((pid) => [pid, [] as { at: number; ms: number }[]]));
  const timer = setInterval(() => {
    for (const [pid, own] of samples) own.push({ at: Date.now(), ms: waitOf(pid) });
  }, SAMPLE_MS);
  return {
    waitedMs(pid, from, to) {
      const own = samples.get(pid) ?? [];
      const before = own.findLast(({ at }) => at <= from) ?? own[0];
      const after = own.find(({ at }) => at >= to) ?? own.at(-1);
      return before === undefined || after === undefined ? 0 : after.ms - before.ms;
    },
    stop: () => clearInterval(timer),
  };
}

/** Milliseconds since the process began. The second number of schedstat, in nanoseconds (proc(5)). */
function waitOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}
