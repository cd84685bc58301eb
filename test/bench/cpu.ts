import { readdirSync, readFileSync } from "node:fs";
import type { Redis } from "ioredis";
import { SetupError } from "../../src/dev/output.ts";

/** Time in microseconds, since the process began. */
export interface CpuTime {
  /** Time on a core, of all threads. */
  readonly used: number;
  /** Time in which a thread was ready to run and waited for a core. */
  readonly waited: number;
}

/** Reads what a process has used, from Linux's own accounting (schedstat), which is exact to the nanosecond. */
export function cpuOf(pid: number): CpuTime {
  let used = 0;
  let waited = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [ran = 0, queued = 0] = schedstat(`/proc/${pid}/task/${thread}/schedstat`);
    used += ran;
    waited += queued;
  }
  return { used: used / 1000, waited: waited / 1000 };
}

/** A thread of the pool may end while it is read. */
function schedstat(file: string): number[] {
  try {
    return readFileSync(file, "utf8").split(" ").map(Number);
  } catch {
    return [];
  }
}

/** @throws {SetupError} where processes cannot be measured. */
export function requireAccounting(): void {
  try {
    if (cpuOf(process.pid).used > 0) return;
  } catch {
    // no /proc
  }
  throw new SetupError("npm run bench reads CPU time from /proc/PID/task/*/schedstat, which only Linux has.");
}

/** Reads what the Redis server has used, from its own INFO, in microseconds. Works for a server on another machine. */
export async function cpuOfRedis(redis: Redis): Promise<number> {
  const info = await redis.info("cpu");
  const seconds = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(info)?.[1]);
  return (seconds("used_cpu_user") + seconds("used_cpu_sys")) * 1e6;
}

/** Reads how many scripts the server has run, which is one for each decision of a limiter that uses one script. */
export async function scriptCalls(redis: Redis): Promise<number> {
  return (await scriptTime(redis)).calls;
}

/** Reads how many scripts the server has run, and how long they took inside it, in microseconds. */
export async function scriptTime(redis: Redis): Promise<{ calls: number; used: number }> {
  const info = await redis.info("commandstats");
  const found = Array.from(info.matchAll(/^cmdstat_(?:evalsha|eval|fcall):calls=(\d+),usec=(\d+)/gm));
  const sum = (group: number) => found.reduce((total, match) => total + Number(match[group]), 0);
  return { calls: sum(1), used: sum(2) };
}
