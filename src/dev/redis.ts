import { join } from "node:path";
import { Redis } from "ioredis";
import { aptInstall, disableService, hasApt } from "./apt.ts";
import { downloaded, fetchProgram } from "./fetch-program.ts";
import { SetupError } from "./output.ts";
import { onPath, runs } from "./programs.ts";
import type { ServerSpec } from "./server-process.ts";

const ANSWER_MS = 1000;

/**
 * Finds a redis-server: on PATH, from Debian's package, or built from the source that redis-memory-server downloads.
 * @param tools folder that keeps what was downloaded.
 * @throws {SetupError} saying what to do when there is none.
 */
export async function findRedis(tools: string, signal: AbortSignal): Promise<string> {
  return (
    (await thatRuns(onPath("redis-server"))) ??
    (await thatRuns(downloaded("redis", tools))) ??
    (await thatRuns(await fromDebian(signal))) ??
    (await thatRuns(await fetchProgram("redis", tools, signal))) ??
    noRedis()
  );
}

async function thatRuns(program: string | undefined): Promise<string | undefined> {
  return program !== undefined && (await runs(program)) ? program : undefined;
}

async function fromDebian(signal: AbortSignal): Promise<string | undefined> {
  if (!hasApt() || !(await aptInstall("redis-server", signal))) return undefined;
  await disableService("redis-server", signal);
  return onPath("redis-server");
}

function noRedis(): never {
  throw new SetupError(
    "Redis is missing: install redis-server so that it is on PATH, or set REDIS_URL to a running one.",
  );
}

/**
 * Redis as a system of record: an append-only file flushed every second, and nothing evicted.
 * @param dir holds its data; made by Redis's caller.
 * @param more settings after these, as command-line arguments.
 */
export function redisSpec({
  command,
  dir,
  log,
  more = [],
}: {
  command: string;
  dir: string;
  log: string;
  more?: string[];
}): ServerSpec {
  const durable = [
    "--appendonly",
    "yes",
    "--appendfsync",
    "everysec",
    "--save",
    "",
    "--maxmemory-policy",
    "noeviction",
  ];
  return {
    name: "redis-server",
    command,
    args: (port) => ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", dir, ...durable, ...more],
    url: (port) => `redis://127.0.0.1:${port}`,
    log,
    askPid: askRedisPid,
  };
}

/** Waits for Redis to have loaded its data. */
export async function askRedisPid(url: string): Promise<number> {
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: ANSWER_MS,
    commandTimeout: ANSWER_MS,
  });
  redis.on("error", () => undefined); // told by the rejection
  try {
    await redis.connect();
    return Number(/^process_id:(\d+)/m.exec(await redis.info("server"))?.[1]);
  } finally {
    redis.disconnect();
  }
}

/** Where Redis keeps its data inside a data folder. */
export function redisDir(dataDir: string): string {
  return join(dataDir, "redis");
}
