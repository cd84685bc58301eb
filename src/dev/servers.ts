import { chmodSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createPrivateFolder } from "./data-dir.ts";
import { lock } from "./lock.ts";
import { askMongoPid, findMongo, mongoSpec } from "./mongo.ts";
import { explain, say } from "./output.ts";
import { askRedisPid, findRedis, redisSpec } from "./redis.ts";
import { type OwnServer, type ServerSpec, adopt, launch } from "./server-process.ts";
import { type ServerRecord, type ServerRole, readServers, recordServer } from "./servers-file.ts";

/** Pause before a crashed server is restarted, in milliseconds. */
const RESTART_PAUSE_MS = 2_000;

export type Servers = Awaited<ReturnType<typeof ensureServers>>;

interface ServersOptions {
  /** Folder of the servers' data and logs and of `servers.json`. Used by one process at a time: see `tryLock`. */
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
export async function ensureServers(options: ServersOptions) {
  const { REDIS_URL, MONGODB_URL } = options.env;
  const running: Pick<OwnServer, "stop">[] = [];
  /** Stops the servers that were started here. */
  const stop = async (): Promise<void> => {
    for (const server of running.splice(0).toReversed()) await server.stop();
  };
  const ensure = async (role: ServerRole): Promise<string> => {
    const server = await start(role, options);
    running.push(server);
    return server.url;
  };
  try {
    const redisUrl = REDIS_URL || (await ensure("redis"));
    const mongodbUrl = MONGODB_URL || (await ensure("mongodb"));
    return { redisUrl, mongodbUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Stops the server that an earlier, killed process left running. The new server uses the same data. */
async function stopEarlier(role: ServerRole, dataDir: string): Promise<void> {
  const record = readServers(dataDir)[role];
  const server = record && (await adopt(role, record, role === "redis" ? askRedisPid : askMongoPid));
  if (server === undefined) return;
  say(`Stopping ${role} from an earlier start (process ${server.pid}).`);
  await server.stop();
}

/** Starts a server, and starts it again, on the same port, whenever it ends without being stopped. */
async function start(role: ServerRole, options: ServersOptions): Promise<Pick<OwnServer, "url" | "stop">> {
  const { dataDir, signal } = options;
  await stopEarlier(role, dataDir);
  const spec = await specOf(role, options);
  const onSpawn = (record: ServerRecord) => recordServer(dataDir, role, record);
  let server = await launch(spec, { detached: true, signal, onSpawn });
  const { url, port } = server;
  const stopping = new AbortController();
  const keepRunning = async (): Promise<void> => {
    for (;;) {
      await server.exited;
      if (stopping.signal.aborted) return;
      say(`${spec.name} stopped unexpectedly. Restarting it in ${RESTART_PAUSE_MS / 1000} s. Its log: ${spec.log}`);
      await wait(RESTART_PAUSE_MS, undefined, { signal: stopping.signal });
      try {
        server = await launch(spec, { port, detached: true, signal: stopping.signal, onSpawn });
      } catch (error) {
        if (!stopping.signal.aborted) say(explain(error));
      }
    }
  };
  const kept = keepRunning().catch(() => undefined); // stopped during the pause
  return {
    url,
    async stop() {
      stopping.abort();
      await server.stop();
      await kept;
      recordServer(dataDir, role, undefined);
    },
  };
}

/** Finds or installs the program. Processes take turns, so that two never install the same one at once. */
async function specOf(role: ServerRole, { dataDir, tools, signal }: ServersOptions): Promise<ServerSpec> {
  const log = join(dataDir, "logs", `${role}.log`);
  const release = await lock(tools, () => say("Waiting for another process to finish installing servers …"));
  try {
    if (role === "redis") {
      const command = await findRedis(tools, signal);
      return redisSpec(command, { dir: privateFolder(join(dataDir, "redis")), log });
    }
    const program = await findMongo(tools, signal, dataDir);
    return mongoSpec({ program, dir: privateFolder(join(dataDir, program.folder)), log });
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
