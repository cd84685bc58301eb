import { readdirSync, readFileSync } from "node:fs";
import type { Redis } from "ioredis";

/**
 * Reads how long the threads of a process were on a core, in microseconds, from Linux's own accounting (schedstat), which is
 * exact to the nanosecond.
 */
export function cpuOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`).map((thread) =>
    nanoseconds(`/proc/${pid}/task/${thread}/schedstat`),
  );
  return threads.reduce((sum, used) => sum + used, 0) / 1000;
}

/** A thread of the pool may end while it is read. */
function nanoseconds(file: string): number {
  try {
    return Number(readFileSync(file, "utf8").split(" ")[0]);
  } catch {
    return 0;
  }
}

/** Reads what the Redis server has used, from its own INFO, in microseconds. Works for a server on another machine. */
export async function cpuOfRedis(redis: Redis): Promise<number> {
  const info = await redis.info("cpu");
  const seconds = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(info)?.[1]);
  return (seconds("used_cpu_user") + seconds("used_cpu_sys")) * 1e6;
}
