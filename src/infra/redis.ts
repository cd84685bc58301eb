import { Cluster, Redis, type RedisOptions } from "ioredis";
import { parseRedisUrl, type RedisAddress, withoutCredentials } from "./redis-url.ts";

/** Redis as the limits see it: ioredis, never reading from a replica, never sending twice. */
export type RedisClient = Redis | Cluster;

/** The part of a pino logger that the connection writes to. */
export interface RedisLog {
  warn(fields: object, message: string): void;
}

export interface RedisConnection {
  /** REDIS_URL, in any of its forms. */
  url: string;
  /** Longest wait for an answer that anyone is still interested in, in milliseconds (LIMITER_TIMEOUT_MS). */
  timeoutMs: number;
  log?: RedisLog;
}

/** Without a byte for so long while an answer is due, a socket is given up: the server behind it hangs. */
const SILENCE_MS = 1000;
const READY_WITHIN_MS = 5000;
const LOG_EVERY_MS = 5000;

/**
 * Connects and returns once the server (of a cluster: every master) takes commands. From then on a lost connection is
 * re-made in the background, within a second of the server's return; until then every command fails at once.
 * @throws {Error} naming the address and the last fault, when the server is not ready within 5 s or older than Redis 7.
 */
export async function connectRedis({ url, timeoutMs, log }: RedisConnection): Promise<RedisClient> {
  const client = createClient(parseRedisUrl(url), timeoutMs);
  let lastError: Error | undefined;
  const report = boundedReport(log);
  const onError = (error: Error): void => {
    lastError = error;
    report(error);
  };
  client.on("error", onError);
  client.on("node error", onError);
  try {
    await ready(client);
    await checkVersion(client);
  } catch (error) {
    client.disconnect();
    const reason = [(error as Error).message, lastError?.message].filter(Boolean).join("; ");
    throw new Error(`Redis at ${withoutCredentials(url)} cannot be used: ${reason}`, { cause: error });
  }
  return client;
}

function createClient(address: RedisAddress, timeoutMs: number): RedisClient {
  const connection = connectionOptions(timeoutMs);
  const client = { enableOfflineQueue: false };
  if (address.form === "standalone")
    return new Redis(address.url, { ...connection, ...client, retryStrategy: backoff });
  if (address.form === "sentinel") {
    const sentinel = new Redis({
      ...connection,
      ...client,
      ...address.credentials,
      sentinels: address.sentinels,
      name: address.name,
      db: address.db,
      failoverDetector: true,
      sentinelCommandTimeout: SILENCE_MS,
      sentinelRetryStrategy: backoff,
      sentinelReconnectStrategy: () => SILENCE_MS,
      retryStrategy: backoff,
    });
    reviveAfterFailover(sentinel);
    return sentinel;
  }
  return new Cluster(address.nodes, {
    ...client,
    redisOptions: { ...connection, ...address.credentials },
    scaleReads: "master",
    // A command whose connection closed may have run: ioredis must not send it to another node.
    retryDelayOnFailover: 0,
    clusterRetryStrategy: backoff,
    slotsRefreshInterval: SILENCE_MS,
    slotsRefreshTimeout: SILENCE_MS,
  });
}

/** What every connection needs so that a charge is never sent a second time and a hung server is noticed. */
function connectionOptions(timeoutMs: number) {
  return {
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableAutoPipelining: false,
    // Bounds the handshake too, which may well need longer than the limiter gives one charge (it has its own timer).
    commandTimeout: Math.max(timeoutMs, SILENCE_MS),
    socketTimeout: Math.max(timeoutMs, SILENCE_MS),
    connectTimeout: SILENCE_MS,
    maxLoadingRetryTime: 250,
    connectionName: "candidate-onboarding-service",
    // A master that was made a replica: ask again who the master is.
    reconnectOnError: (error: Error) => error.message.startsWith("READONLY"),
  } satisfies RedisOptions;
}

/**
 * ioredis ends a client for good when the news of a failover arrives in the midst of an attempt to connect (ioredis 6.0:
 * FailoverDetector closes the connector, whose attempt then fails without a retry). Such an end was not asked for.
 */
function reviveAfterFailover(client: Redis): void {
  let attempting = false;
  let closed = false;
  const disconnect = client.disconnect.bind(client);
  client.disconnect = (reconnect = false) => {
    closed ||= !reconnect;
    disconnect(reconnect);
  };
  client.on("connecting", () => (attempting = true));
  client.on("close", () => (attempting = false));
  client.on("end", () => {
    if (attempting && !closed) setTimeout(() => void client.connect().catch(() => undefined), backoff(1)); // told by "error"
  });
}

/** Milliseconds before the next attempt to connect: 50, 100 … at most 500, for ever. */
function backoff(times: number): number {
  return Math.min(times * 50, 500);
}

async function ready(client: RedisClient): Promise<void> {
  if (client.status !== "ready") {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`not ready within ${READY_WITHIN_MS} ms`)), READY_WITHIN_MS);
      client.once("ready", () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
  // A cluster connects to a node at the first command for it, and refuses the ones that arrive meanwhile.
  if (client.isCluster) await Promise.all((client as Cluster).nodes("master").map((node) => node.ping()));
}

async function checkVersion(client: RedisClient): Promise<void> {
  const info = await client.info("server");
  const [version, major] = /^redis_version:(\d+)\.\S+/m.exec(info) ?? [];
  if (major !== undefined && Number(major) < 7) throw new Error(`Redis 7.0 or later is needed, this is ${version}`);
}

/** Writes at most one warning in 5 s, with the number of those left out: a server that is down fails every attempt. */
function boundedReport(log: RedisLog | undefined): (error: Error) => void {
  let silentUntil = 0;
  let suppressed = 0;
  return (error) => {
    if (performance.now() < silentUntil) {
      suppressed += 1;
      return;
    }
    // Not the error itself: of a refused handshake it carries the command, and with it the password.
    log?.warn({ error: { type: error.name, message: error.message }, suppressed }, "Redis connection failed");
    silentUntil = performance.now() + LOG_EVERY_MS;
    suppressed = 0;
  };
}
