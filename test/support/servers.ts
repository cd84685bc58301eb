import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findMongo, mongoSpec } from "../../src/dev/mongo.ts";
import { askRedisPid, findRedis, redisSpec } from "../../src/dev/redis.ts";
import { type OwnServer, type ServerSpec, launch } from "../../src/dev/server-process.ts";
import { dataDirOf, toolsIn } from "../../src/dev/data-dir.ts";
import { connectRedis, type RedisClient } from "../../src/infra/redis.ts";
import { useStarted } from "./use-started.ts";

/** A server of one test, which may pause, kill and restart it. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Suspends the process (SIGSTOP): connections stay open, but nothing responds. */
  pause(): void;
  resume(): void;
  /** Ends it as a crash would (SIGKILL). Its data stays. */
  kill(): Promise<void>;
  /** Shuts it down (SIGTERM), and removes its data unless the caller gave the folder. */
  stop(): Promise<void>;
  /** Starts it again on the same port and data. Shuts it down first if it runs. */
  restart(): Promise<void>;
}

export interface TestServerOptions {
  /** Any free port by default. */
  port?: number;
  /** Data folder. By default a new one, which `stop` removes. */
  dir?: string;
}

/**
 * Starts a Redis. Like the one of `npm start`, it writes its append-only file in each turn of its event loop, so that a killed
 * server loses nothing. It calls no fsync: a busy disk would hold up that write, and with it all of Redis.
 * @param options more arguments; they override these settings.
 */
export async function startRedis({
  args = [],
  ...options
}: TestServerOptions & { args?: string[] } = {}): Promise<TestServer> {
  const command = await findRedis(tools(), new AbortController().signal);
  return start(options, (dir) =>
    redisSpec(command, { dir, log: join(dir, "redis.log"), more: ["--appendfsync", "no", ...args] }),
  );
}

/**
 * Starts a Redis Sentinel on a free port.
 * @param file path of its configuration file, which Sentinel rewrites. Its log has the same path, with ".log" added.
 * @param lines of the configuration.
 * @param options the password that the configuration sets, and more arguments.
 */
export async function startSentinel(
  file: string,
  lines: readonly string[],
  { password = "", args = [] }: { password?: string; args?: readonly string[] } = {},
): Promise<OwnServer> {
  writeFileSync(file, lines.map((line) => `${line}\n`).join(""));
  const auth = password === "" ? "" : `:${encodeURIComponent(password)}@`;
  return launch({
    name: "redis-sentinel",
    command: await findRedis(tools(), new AbortController().signal),
    args: (port) => [file, "--sentinel", "--port", `${port}`, "--bind", "127.0.0.1", ...args],
    url: (port) => `redis://${auth}127.0.0.1:${port}`,
    log: `${file}.log`,
    askPid: askRedisPid,
  });
}

/** Starts a Redis before the tests of the `describe` that calls this, and stops it after them. */
export function useRedisServer(options: Parameters<typeof startRedis>[0] = {}): TestServer {
  return useStarted(
    "The Redis server",
    () => startRedis(options),
    (server) => server.stop(),
  );
}

/** Connects to a Redis before the tests of the `describe` that calls this, and disconnects after them. */
export function useRedisClient(server: { readonly url: string }, timeoutMs = 5_000): RedisClient {
  return useStarted(
    "The Redis client",
    () => connectRedis({ url: server.url, timeoutMs }),
    (client) => client.disconnect(),
  );
}

/** Starts the server that `npm test` would use: a real mongod if there is one, else the stand-in. */
export async function startMongo(options: TestServerOptions = {}): Promise<TestServer> {
  const program = await findMongo(tools(), new AbortController().signal);
  return start(options, (dir) => mongoSpec({ program, dir, log: join(dir, "mongodb.log") }));
}

function tools(): string {
  return toolsIn(dataDirOf(process.env));
}

async function start(
  { port, dir: given }: TestServerOptions,
  specIn: (dir: string) => ServerSpec,
): Promise<TestServer> {
  const dir = given ?? mkdtempSync(join(tmpdir(), "onboarding-server-"));
  mkdirSync(dir, { recursive: true });
  const spec = specIn(dir);
  let server: OwnServer = await launch(spec, port === undefined ? {} : { port });
  return {
    url: server.url,
    port: server.port,
    get pid() {
      return server.pid;
    },
    pause: () => void process.kill(server.pid, "SIGSTOP"),
    resume: () => void process.kill(server.pid, "SIGCONT"),
    async kill() {
      process.kill(server.pid, "SIGKILL");
      await server.exited;
    },
    async stop() {
      await server.stop();
      if (given === undefined) rmSync(dir, { recursive: true, force: true });
    },
    async restart() {
      await server.stop();
      server = await launch(spec, { port: server.port });
    },
  };
}
