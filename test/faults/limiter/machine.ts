import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { stolenFromCpusMs, waitedForCpuMs } from "../../support/cpu-time.ts";

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

/** The state of one moment: what each process has waited for a CPU, and what the host has taken of each CPU, so far. */
interface Sample {
  readonly at: number;
  readonly waitedMs: ReadonlyMap<number, number>;
  readonly stolenMs: readonly number[];
}

/**
 * Watches what the machine takes from the processes of a test, so that the service is not blamed for it.
 * - An idle process shows when everything stands still.
 * - The kernel counts how long a process waited for a CPU that others used (/proc/PID/schedstat).
 * - The kernel of a virtual machine counts how long the host kept a CPU from it (/proc/stat). The process on that CPU stands
 *   still, but does not wait.
 * - A sample that comes late shows that this process did not read its sockets. Clients and proxies are in this process.
 * @param replicas the process ids of the service's replicas.
 */
export function watchMachine(replicas: readonly number[]): Machine {
  const idle = spawn(process.execPath, ["-e", IDLE], { stdio: ["ignore", "pipe", "inherit"] });
  const stalls: { at: number; ms: number }[] = [];
  createInterface(idle.stdout).on("line", (line) => {
    const [at = 0, ms = 0] = line.split(" ").map(Number);
    stalls.push({ at, ms });
  });
  const samples: Sample[] = [];
  const timer = setInterval(() => {
    const pids = new Set([...replicas, process.pid, ...children()]);
    const waitedMs = new Map([...pids].map((pid) => [pid, waitedForCpuMs(pid)]));
    samples.push({ at: Date.now(), waitedMs, stolenMs: stolenFromCpusMs() });
  }, SAMPLE_MS);

  const stalledMs = (from: number, to: number): number =>
    sum(stalls.map(({ at, ms }) => Math.max(0, Math.min(at, to) - Math.max(at - ms, from))));
  /** Rounded up to whole samples. */
  const between = (from: number, to: number): Sample[] => {
    const first = samples.findLastIndex(({ at }) => at <= from);
    const last = samples.findIndex(({ at }) => at >= to);
    return samples.slice(Math.max(0, first), last < 0 ? samples.length : last + 1);
  };
  const queuedMs = (pids: readonly number[], window: readonly Sample[]): number =>
    sum(pids.map((pid) => grown(window.map(({ waitedMs }) => waitedMs.get(pid)))));
  const stolenMs = (window: readonly Sample[]): number[] =>
    cpus(window).map((cpu) => grown(window.map((sample) => sample.stolenMs[cpu])));
  /** Time in which this process was busy with itself. Its waits for a CPU are not included: `queuedMs` counts them. */
  const busyMs = (window: readonly Sample[]): number =>
    sum(window.slice(1).map(({ at }, index) => Math.max(0, at - window[index]!.at - SAMPLE_MS))) -
    queuedMs([process.pid], window);
  return {
    keptWaitingMs(pid, from, to) {
      const window = between(from, to);
      return Math.max(stalledMs(from, to), queuedMs([pid], window) + Math.max(0, ...stolenMs(window)));
    },
    keptDecisionWaitingMs(pid, from, to) {
      const window = between(from, to);
      const others = [...(window.at(-1)?.waitedMs.keys() ?? [])].filter((other) => !replicas.includes(other));
      // A decision passes several processes, one after the other, and each may be on another CPU.
      const onTheWayMs = queuedMs([pid, ...others], window) + sum(stolenMs(window)) + Math.max(0, busyMs(window));
      return Math.max(stalledMs(from, to), onTheWayMs);
    },
    async stop() {
      clearInterval(timer);
      const gone = once(idle, "exit");
      idle.kill("SIGKILL");
      await gone;
    },
  };
}

/** What a counter has grown by. A process that has just begun, or ended, has no value in some samples. */
function grown(values: readonly (number | undefined)[]): number {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? 0 : known.at(-1)! - known[0]!;
}

function cpus(window: readonly Sample[]): number[] {
  return [...(window[0]?.stolenMs.keys() ?? [])];
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
