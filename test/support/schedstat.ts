import { readFileSync } from "node:fs";

/** Milliseconds that a process has waited for a CPU: the second number of schedstat, in nanoseconds (proc(5)). 0 without /proc. */
export function waitedForCpuMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}
