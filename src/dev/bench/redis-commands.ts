import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";

/** What the service sends to Redis on its own every few seconds: its checks of health. */
const BACKGROUND = new Set(["ping", "info"]);

/**
 * Counts by name the commands that clients send to Redis while `work` runs. What scripts run inside Redis is left out: INFO
 * counts both together, MONITOR tells them apart.
 */
export async function commandsSent(redis: Redis, work: () => Promise<unknown>): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const marker = randomUUID();
  const monitor = await redis.monitor();
  try {
    const seenAll = new Promise<void>((resolve) => {
      monitor.on("monitor", (_time: string, [name = "", first]: string[], source: string) => {
        if (first === marker) return resolve();
        const command = name.toLowerCase();
        if (source !== "lua" && !BACKGROUND.has(command)) counts.set(command, (counts.get(command) ?? 0) + 1);
      });
    });
    await work();
    await redis.echo(marker);
    await seenAll;
  } finally {
    monitor.disconnect();
  }
  return counts;
}
