import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { lock } from "./lock.ts";
import { askMongoPid, findMongo, mongoSpec } from "./mongo.ts";
import { say } from "./output.ts";
import { askRedisPid, findRedis, redisDir, redisSpec } from "./redis.ts";
import { type Server, type ServerSpec, adopt, launch } from "./server-process.ts";
import { type ServerRole, readServers, recordServer } from "./servers-file.ts";

export interface Servers {
  readonly redisUrl: string;
  readonly mongodbUrl: string;
  /** Stops what was started here or taken over from an earlier start, MongoDB first; leaves the servers of the environment alone. */
  stop(): Promise<void>;
}

export interface ServersOptions {
  /** Holds the servers' data, logs and `servers.json`. One process at a time may own it: see `tryLock`. */
  readonly dataDir: string;
  /** Holds downloaded programs; several processes may share it. */
  readonly tools: string;
  /** Its REDIS_URL and MONGODB_URL, where given, are used as they are. */
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/**
 * Finds or starts Redis and MongoDB, installing what the machine lacks.
 * @throws {SetupError} when that cannot be done, or the signal's reason; nothing that was started is left running.
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
  const server = (await leftBehind(role, options)) ?? (await begin(role, options));
  running.push({
    ...server,
    async stop() {
      await server.stop();
      recordServer(options.dataDir, role, undefined);
    },
  });
  return server.url;
}

/** A server that an earlier process started and, killed, could not stop. */
async function leftBehind(role: ServerRole, { dataDir }: ServersOptions): Promise<Server | undefined> {
  const record = readServers(dataDir)[role];
  if (record === undefined) return undefined;
  const server = await adopt(role, record, role === "redis" ? askRedisPid : askMongoPid);
  if (server !== undefined) say(`Taking over ${role} from an earlier start (process ${server.pid}).`);
  return server;
}

async function begin(role: ServerRole, options: ServersOptions): Promise<Server> {
  const { dataDir, signal } = options;
  const spec = await specOf(role, options);
  const server = await launch(spec, {
    detached: true,
    signal,
    onSpawn: (record) => recordServer(dataDir, role, record),
  });
  let wanted = false;
  void server.exited.then(() => wanted || say(`${spec.name} has stopped by itself; its log is ${spec.log}`));
  return {
    ...server,
    stop() {
      wanted = true;
      return server.stop();
    },
  };
}

async function specOf(role: ServerRole, options: ServersOptions): Promise<ServerSpec> {
  const log = join(options.dataDir, "logs", `${role}.log`);
  if (role === "redis") {
    const command = await alone(options, () => findRedis(options.tools, options.signal));
    return redisSpec({ command, dir: made(redisDir(options.dataDir)), log });
  }
  const program = await alone(options, () => findMongo(options.tools, options.signal, options.dataDir));
  return mongoSpec({ program, dir: made(join(options.dataDir, program.folder)), log });
}

/** Two processes must not install the same thing at once. */
async function alone<T>({ tools }: Pick<ServersOptions, "tools">, find: () => Promise<T>): Promise<T> {
  const release = await lock(tools, () => say("Waiting for another process that installs servers …"));
  try {
    return await find();
  } finally {
    release();
  }
}

function made(dir: string): string {
  mkdirSync(dir, { recursive: true });
  return dir;
}
