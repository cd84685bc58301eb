import { Redis } from "ioredis";
import { aptInstall, disableService } from "./apt.ts";
import { downloaded, fetchProgram } from "./fetch-program.ts";
import { SetupError } from "./output.ts";
import { firstThatRuns, onPath } from "./programs.ts";
import type { ServerSpec } from "./server-process.ts";

const RESPONSE_TIMEOUT_MS = 1000;

/**
 * Finds a redis-server: on PATH, else one downloaded earlier, else Debian's package, else built from the source that
 * redis-memory-server downloads.
 * @param tools folder of downloaded programs.
 * @throws {SetupError} if there is none.
 */
export async function findRedis(tools: string, signal: AbortSignal): Promise<string> {
  const command = await firstThatRuns([
    () => onPath("redis-server"),
    () => downloaded("redis", tools),
    () => installFromDebian(signal),
    () => fetchProgram("redis", tools, signal),
  ]);
  if (command !== undefined) return command;
  throw new SetupError("Redis is missing: install redis-server on the PATH, or set REDIS_URL to a running server.");
}

async function installFromDebian(signal: AbortSignal): Promise<string | undefined> {
  if (!(await aptInstall("redis-server", signal))) return undefined;
  await disableService("redis-server", signal);
  return onPath("redis-server");
}

/**
 * A Redis that keeps its data: an append-only file that is flushed every second, and no eviction.
 * @param dir data folder; must exist.
 * @param more further command-line arguments; they override these settings.
 */
export function redisSpec(command: string, { dir, log, more = [] }: { dir: string; log: string; more?: string[] }) {
  const persistence = "--appendonly yes --appendfsync everysec --maxmemory-policy noeviction".split(" ");
  return {
    name: "redis-server",
    command,
    args: (port) => ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", dir, "--save", "", ...persistence, ...more],
    url: (port) => `redis://127.0.0.1:${port}`,
    log,
    askPid: askRedisPid,
  } satisfies ServerSpec;
}

/** Asks Redis for its process id, once it has loaded its data. Rejects if it does not respond within a second. */
export async function askRedisPid(url: string): Promise<number> {
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: RESPONSE_TIMEOUT_MS,
    commandTimeout: RESPONSE_TIMEOUT_MS,
  });
  redis.on("error", () => undefined); // the rejection reports it
  try {
    await redis.connect();
    return Number(/^process_id:(\d+)/m.exec(await redis.info("server"))?.[1]);
  } finally {
    redis.disconnect();
  }
}
