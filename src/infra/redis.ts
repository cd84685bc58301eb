import { Cluster, Redis, type RedisOptions } from "ioredis";
import { withoutCredentials } from "../urls.ts";
import { forEachConnection, tendStream } from "./redis-connections.ts";
import { parseRedisUrl, type RedisAddress } from "./redis-url.ts";
import { TimeLimit } from "./time-limit.ts";

/** An ioredis client that never reads from a replica and never sends a command twice. */
export type RedisClient = Redis | Cluster;

export interface RedisLog {
  warn(fields: object, message: string): void;
}

/** Time without data, while a reply is due, after which a server counts as hung. In milliseconds. */
const SILENCE_MS = 1000;
const READY_WITHIN_MS = 5000;
const LOG_EVERY_MS = 5000;
/** Faults that no wait mends. */
const LASTING = /\b(WRONGPASS|NOAUTH|Redis 7\.0 or later)\b/;

/** Redis does not respond, but may later. */
export class RedisOutage extends Error {}

/**
 * Connects, and returns once the server accepts commands (in a cluster: every master). A lost connection is restored within a
 * second after the server is back. Until then every command fails at once.
 * @param given `url`: REDIS_URL, in any of its forms. `timeoutMs`: time that callers wait for a reply, in milliseconds
 * (LIMITER_TIMEOUT_MS). `log` is told of faults once the client has connected.
 * @throws {RedisOutage} with the address and the last fault, if the server is not ready within 5 s.
 * @throws {Error} with the same, at once, if the server refuses the password or is older than Redis 7.
 */
export async function connectRedis(given: { url: string; timeoutMs: number; log?: RedisLog }): Promise<RedisClient> {
  const { url, timeoutMs, log } = given;
  const client = createClient(parseRedisUrl(url), timeoutMs);
  let lastError: Error | undefined;
  let report = (error: Error): void => void (lastError = error);
  for (const event of ["error", "node error"]) client.on(event, (error: Error) => report(error));
  try {
    await ready(client);
    await checkVersion(client, log);
  } catch (error) {
    client.disconnect();
    const reason = Array.from(new Set([(error as Error).message, lastError?.message ?? ""])).join("; ");
    const Failure = LASTING.test(reason) ? Error : RedisOutage;
    const detail = `Redis at ${withoutCredentials(url)} cannot be used: ${reason}. Check REDIS_URL.`;
    throw new Failure(detail, { cause: error });
  }
  report = throttledReport(log);
  return client;
}

/** Creates the client, which begins to connect. */
export function createClient(address: RedisAddress, timeoutMs: number): RedisClient {
  // At least a second, because this also limits the handshake. The limiter has a timer of its own for each charge.
  const silenceMs = Math.max(timeoutMs, SILENCE_MS);
  const client = clientOf(address, silenceMs);
  forEachConnection(client, (connection) => tendStream(connection, silenceMs));
  return client;
}

function clientOf(address: RedisAddress, silenceMs: number): RedisClient {
  const options = { ...CONNECTION_OPTIONS, enableOfflineQueue: false, retryStrategy: backoff };
  if (address.form === "standalone") return new Redis(address.url, options);
  if (address.form === "sentinel") {
    const sentinel = new Redis({
      ...options,
      ...address.credentials,
      ...address.sentinelCredentials,
      // TLS to both the Sentinels and the servers that they name, or to neither.
      ...(address.tls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
      sentinels: address.sentinels,
      name: address.name,
      db: address.db,
      failoverDetector: true,
      sentinelCommandTimeout: SILENCE_MS,
      sentinelRetryStrategy: backoff,
      sentinelReconnectStrategy: () => SILENCE_MS,
    });
    reviveAfterFailover(sentinel);
    return sentinel;
  }
  const cluster = new Cluster(address.nodes, {
    enableOfflineQueue: false,
    redisOptions: { ...CONNECTION_OPTIONS, ...address.credentials, ...(address.tls && { tls: {} }) },
    // A certificate names hosts, so connect to a host by its name, not by an address that was looked up before.
    ...(address.tls && { dnsLookup: (host, found) => found(null, host) }),
    scaleReads: "master",
    // A command may have run even though its connection closed. ioredis must not send it to another node.
    retryDelayOnFailover: 0,
    clusterRetryStrategy: backoff,
    slotsRefreshInterval: SILENCE_MS,
    slotsRefreshTimeout: SILENCE_MS,
  });
  waitForNodes(cluster, silenceMs);
  return cluster;
}

/**
 * Lets commands wait until their node is connected: while a Cluster moves slots, ASK and MOVED name nodes to which ioredis
 * connects at the first command. While the whole Cluster is away, every command still fails at once.
 */
function waitForNodes(cluster: Cluster, silenceMs: number): void {
  cluster.on("ready", () => (cluster.options.enableOfflineQueue = true));
  for (const lost of ["close", "end"]) cluster.on(lost, () => (cluster.options.enableOfflineQueue = false));
  // Before a command that got ASK, ioredis 6.0 sends ASKING and ignores its promise. If the node is gone, the unhandled
  // rejection would end the process. The command itself is rejected as well.
  cluster.on("+node", (node: Redis) => {
    const asking = node.asking.bind(node);
    node.asking = () => {
      const sent = asking();
      sent.catch(() => undefined);
      return sent;
    };
    // Once a second, ioredis 6.0 disconnects nodes that have no slots yet. Wait for the replies to what ASK has sent there, for at
    // most `silenceMs`. If the whole client closes, or nothing was sent to the node yet, disconnect at once.
    const disconnect = node.disconnect.bind(node);
    let isLeaving = false;
    node.disconnect = (reconnect) => {
      if (reconnect || isLeaving || cluster.status !== "ready" || node.status === "wait") return disconnect(reconnect);
      isLeaving = true; // while the node connects and has no commands, `quit` calls `disconnect` again
      const late = setTimeout(() => disconnect(), silenceMs).unref();
      node.once("end", () => clearTimeout(late));
      node.quit().catch(() => disconnect());
    };
  });
}

/**
 * With these options, a command is never sent twice. In place of commandTimeout and socketTimeout, tendStream does not
 * count the time in which this process stands still.
 */
const CONNECTION_OPTIONS = {
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  enableAutoPipelining: false,
  connectTimeout: SILENCE_MS,
  maxLoadingRetryTime: 250,
  connectionName: "candidate-onboarding-service",
  // READONLY means that the master became a replica. Reconnect to find the new master.
  reconnectOnError: (error: Error) => error.message.startsWith("READONLY"),
} satisfies RedisOptions;

/**
 * Reconnects a client that ioredis has ended by mistake. If ioredis 6.0 learns of a failover during an attempt to
 * connect, its FailoverDetector closes the connector, and the attempt fails without a retry.
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
    if (attempting && !closed) setTimeout(() => void client.connect().catch(() => undefined), backoff(1)); // "error" reports it
  });
}

/** Returns the wait before the next attempt to connect, in milliseconds: 50, 100 … up to 500. It never gives up. */
function backoff(times: number): number {
  return Math.min(times * 50, 500);
}

async function ready(client: RedisClient): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const limit = new TimeLimit(READY_WITHIN_MS, () => reject(new Error(`not ready within ${READY_WITHIN_MS} ms`)));
    client.once("ready", () => {
      limit.clear();
      resolve();
    });
    client.on("error", (error: Error & { lastNodeError?: Error }) => {
      if (!LASTING.test(`${error.message} ${error.lastNodeError?.message}`)) return; // of a cluster: no node let it in
      limit.clear();
      reject(error);
    });
  });
  // A cluster client connects to a node at the first command for it, and refuses further commands until it is connected.
  if (client.isCluster) await Promise.all((client as Cluster).nodes("master").map((node) => node.ping()));
}

async function checkVersion(client: RedisClient, log: RedisLog | undefined): Promise<void> {
  const [info] = await client.info("server").then((text) => [text], unlessForbidden);
  if (info === undefined) log?.warn({}, "the user of REDIS_URL may not run INFO: make sure that Redis is 7.0 or later");
  const [, version, major] = /^redis_version:((\d+)\.\S+)/m.exec(info ?? "") ?? [];
  if (major !== undefined && Number(major) < 7)
    throw new Error(`Redis 7.0 or later is required, but the server has ${version}`);
}

/** Returns nothing if the user may not run the command. @throws any other error. */
export function unlessForbidden(error: Error): never[] {
  if (error.message.startsWith("NOPERM")) return [];
  throw error;
}

/** Logs at most one warning every 5 s, with the number of errors skipped. While a server is down, every attempt fails. */
function throttledReport(log: RedisLog | undefined): (error: Error) => void {
  let silentUntil = 0;
  let errors = 0;
  return (error) => {
    errors++;
    if (performance.now() < silentUntil) return;
    // Do not log the error itself: if the handshake was refused, it holds the command with the password.
    const shown = { type: error.name, message: error.message };
    log?.warn({ error: shown, suppressed: errors - 1 }, "Redis connection failed");
    silentUntil = performance.now() + LOG_EVERY_MS;
    errors = 0;
  };
}
