import { readFileSync } from "node:fs";

/** Milliseconds that a process has waited for a CPU: the second number of schedstat, in nanoseconds (proc(5)). 0 without /proc. */
export function waitedForCpuMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}

/** The length of a tick of /proc/stat: USER_HZ is 100 on the processors that Node supports. */
const TICK_MS = 10;

/**
 * Milliseconds that a virtual machine's host has kept each CPU from it so far: the eighth number of its line, in ticks
 * (proc_stat(5)). Empty without /proc.
 */
export function stolenFromCpusMs(): number[] {
  try {
    const lines = readFileSync("/proc/stat", "utf8").split("\n");
    return lines.filter((line) => /^cpu\d/.test(line)).map((line) => Number(line.split(" ")[8]) * TICK_MS);
  } catch {
    return [];
  }
}
