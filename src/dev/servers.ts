import { chmodSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createPrivateFolder } from "./data-dir.ts";
import { lock } from "./lock.ts";
import { askMongoPid, findMongo, mongoSpec } from "./mongo.ts";
import { explain, say } from "./output.ts";
import { askRedisPid, findRedis, redisDir, redisSpec } from "./redis.ts";
import { type Server, type ServerSpec, adopt, launch } from "./server-process.ts";
import { type ServerRecord, type ServerRole, readServers, recordServer } from "./servers-file.ts";

/** Pause before a crashed server is restarted, in milliseconds. Doubles with each start that fails. */
const RESTART_PAUSE_MS = 1_000;
const MAX_RESTART_PAUSE_MS = 30_000;

export interface Servers {
  readonly redisUrl: string;
  readonly mongodbUrl: string;
  /** Stops the servers that were started here, MongoDB first. Does not stop servers that the environment names. */
  stop(): Promise<void>;
}

export interface ServersOptions {
  /** Folder of the servers' data and logs and of `servers.json`. Only one process at a time may use it: see `tryLock`. */
  readonly dataDir: string;
  /** Folder of downloaded programs. Several processes may share it. */
  readonly tools: string;
  /** If it has REDIS_URL or MONGODB_URL, that server is used and none is started. */
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/**
 * Finds or starts Redis and MongoDB, and installs them if they are missing.
 * @throws {SetupError} if one of them cannot be started; the signal's reason if it aborts. Whatever was started is stopped.
 */
export async function ensureServers(options: ServersOptions): Promise<Servers> {
  const { REDIS_URL, MONGODB_URL } = options.env;
  const running: Server[] = [];
  const stop = async (): Promise<void> => {
    for (const server of running.splice(0).toReversed()) await server.stop();
  };
  try {
    const redisUrl = REDIS_URL || (await ensure("redis", options, running));
    const mongodbUrl = MONGODB_URL || (await ensure("mongodb", options, running));
    return { redisUrl, mongodbUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function ensure(role: ServerRole, options: ServersOptions, running: Server[]): Promise<string> {
  await stopEarlier(role, options);
  const server = await startNew(role, options);
  running.push({
    ...server,
    async stop() {
      await server.stop();
      recordServer(options.dataDir, role, undefined);
    },
  });
  return server.url;
}

/** Stops the server that an earlier, killed process left running. The new server uses the same data. */
async function stopEarlier(role: ServerRole, { dataDir }: ServersOptions): Promise<void> {
  const record = readServers(dataDir)[role];
  if (record === undefined) return;
  const server = await adopt(role, record, role === "redis" ? askRedisPid : askMongoPid);
  if (server === undefined) return;
  say(`Stopping ${role} from an earlier start (process ${server.pid}).`);
  await server.stop();
}

/** Starts a server, and starts it again whenever it ends without being stopped. */
async function startNew(role: ServerRole, options: ServersOptions): Promise<Server> {
  const { dataDir, signal } = options;
  const spec = await specOf(role, options);
  const onSpawn = (record: ServerRecord) => recordServer(dataDir, role, record);
  let server = await launch(spec, { detached: true, signal, onSpawn });
  const stopping = new AbortController();
  const keepRunning = async (): Promise<void> => {
    for (let pauseMs = RESTART_PAUSE_MS; ;) {
      await server.exited;
      if (stopping.signal.aborted) return;
      say(`${spec.name} stopped unexpectedly. Restarting it in ${pauseMs / 1000} s. Its log: ${spec.log}`);
      await wait(pauseMs, undefined, { signal: stopping.signal });
      try {
        // On the same port: the service has its address.
        server = await launch(spec, { port: server.port, detached: true, signal: stopping.signal, onSpawn });
        pauseMs = RESTART_PAUSE_MS;
      } catch (error) {
        if (!stopping.signal.aborted) say(explain(error));
        pauseMs = Math.min(2 * pauseMs, MAX_RESTART_PAUSE_MS);
      }
    }
  };
  const kept = keepRunning().catch(() => undefined); // stopped during the pause
  return {
    url: server.url,
    pid: server.pid,
    async stop() {
      stopping.abort();
      await server.stop();
      await kept;
    },
  };
}

async function specOf(role: ServerRole, options: ServersOptions): Promise<ServerSpec> {
  const log = join(options.dataDir, "logs", `${role}.log`);
  if (role === "redis") {
    const command = await withInstallLock(options, () => findRedis(options.tools, options.signal));
    return redisSpec({ command, dir: privateFolder(redisDir(options.dataDir)), log });
  }
  const program = await withInstallLock(options, () => findMongo(options.tools, options.signal, options.dataDir));
  return mongoSpec({ program, dir: privateFolder(join(options.dataDir, program.folder)), log });
}

/** Makes processes take turns, so that two never install the same program at once. */
async function withInstallLock<T>({ tools }: Pick<ServersOptions, "tools">, find: () => Promise<T>): Promise<T> {
  const release = await lock(tools, () => say("Waiting for another process to finish installing servers …"));
  try {
    return await find();
  } finally {
    release();
  }
}

/** Creates a folder for personal data: only its owner may read it, also if it has been there before. */
function privateFolder(dir: string): string {
  createPrivateFolder(dir);
  chmodSync(dir, 0o700);
  return dir;
}
