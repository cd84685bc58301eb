import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { waitedForCpuMs } from "../../support/schedstat.ts";

const SAMPLE_MS = 20;

/** Wakes every 5 ms, and prints when it woke more than 2 ms late and by how much. */
const IDLE = `let due = performance.now() + 5;
(function wait() {
  setTimeout(() => {
    const late = performance.now() - due;
    if (late > 2) console.log(Date.now(), late);
    due = performance.now() + 5;
    wait();
  }, 5);
})();`;

/** Times are `Date.now()`, durations are milliseconds. */
export interface Machine {
  /** Returns for how long the machine kept this process from running between two times. */
  keptWaitingMs(pid: number, from: number, to: number): number;
  /** The same for all that a decision of this replica passes: the replica, a proxy in this process, and the Redis servers. */
  keptDecisionWaitingMs(pid: number, from: number, to: number): number;
  stop(): Promise<void>;
}

/**
 * Watches what the machine takes from the processes of a test, so that the service is not blamed for it. An idle process
 * shows when everything stands still, as on a virtual machine whose host is busy. The kernel's count of the time that a
 * process waited for a CPU shows when others use the CPUs; without /proc/PID/schedstat there is no such count.
 * @param replicas the process ids of the service's replicas.
 */
export function watchMachine(replicas: readonly number[]): Machine {
  const idle = spawn(process.execPath, ["-e", IDLE], { stdio: ["ignore", "pipe", "inherit"] });
  const stalls: { at: number; ms: number }[] = [];
  createInterface(idle.stdout).on("line", (line) => {
    const [at = 0, ms = 0] = line.split(" ").map(Number);
    stalls.push({ at, ms });
  });
  const samples = new Map<number, { at: number; ms: number }[]>();
  const timer = setInterval(() => {
    for (const pid of new Set([...replicas, process.pid, ...children()])) {
      const own = samples.get(pid) ?? [];
      own.push({ at: Date.now(), ms: waitedForCpuMs(pid) });
      samples.set(pid, own);
    }
  }, SAMPLE_MS);

  const stalledMs = (from: number, to: number): number =>
    sum(stalls.map(({ at, ms }) => Math.max(0, Math.min(at, to) - Math.max(at - ms, from))));
  /** Rounded up to whole samples. */
  const queuedMs = (pid: number, from: number, to: number): number => {
    const own = samples.get(pid) ?? [];
    const before = own.findLast(({ at }) => at <= from) ?? own[0];
    const after = own.find(({ at }) => at >= to) ?? own.at(-1);
    return before === undefined || after === undefined ? 0 : after.ms - before.ms;
  };
  return {
    keptWaitingMs: (pid, from, to) => Math.max(stalledMs(from, to), queuedMs(pid, from, to)),
    keptDecisionWaitingMs(pid, from, to) {
      const others = [...samples.keys()].filter((other) => !replicas.includes(other));
      return Math.max(stalledMs(from, to), sum([pid, ...others].map((each) => queuedMs(each, from, to))));
    },
    async stop() {
      clearInterval(timer);
      const gone = once(idle, "exit");
      idle.kill("SIGKILL");
      await gone;
    },
  };
}

/** The process ids of this process's children. The test's Redis servers are among them. */
function children(): number[] {
  try {
    return readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
