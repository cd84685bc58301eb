import cluster from "node:cluster";
import { createServer, type RequestListener, type Server } from "node:http";
import type { Logger } from "pino";
import { AggregatorRegistry, Registry } from "prom-client";
import { compose, type System } from "../compose.ts";
import type { Config } from "../config.ts";
import { refuseMalformed } from "../http/client-error.ts";
import { boundConnections, lingerOverBodies } from "../http/connections.ts";
import { makeLazyValues } from "../infra/lazy.ts";
import { newTypeId } from "../infra/ids.ts";
import { createLog, describeFailure } from "../infra/log.ts";
import { processMetrics } from "../infra/process-metrics.ts";
import { Startup } from "../infra/startup.ts";
import { drain } from "./drain.ts";
import { listen } from "./listen.ts";
import { serveOps } from "./ops.ts";

/** Idle, they take about 80 MB. Further ones are closed at once, to leave file descriptors for Redis and MongoDB. */
const MAX_CONNECTIONS = 10_000;
/** Longer than the 60 s of common load balancers. If we closed first, the balancer might just be sending a request. */
const KEEP_ALIVE_MS = 75_000;
const HEADERS_MS = 10_000;
const CONNECTION_RULES = {
  maxOpen: 16,
  maxUnreadMs: 120_000,
  // The headers of the next request may have begun at the last moment, and Node looks every second.
  maxIdleMs: KEEP_ALIVE_MS + HEADERS_MS + 5_000,
};

export interface Replica {
  readonly port: number;
  readonly opsPort: number;
  /** Reports not ready, finishes open requests, then closes everything. Idempotent. @param quietMs as in `drain`. */
  readonly stop: (quietMs?: number) => Promise<void>;
}

/**
 * Connects, composes and listens. Waits for Redis and MongoDB. Serves OPS_PORT from the beginning: that wait, or the creation
 * of an index, may take longer than Kubernetes waits for /livez. In a worker, the supervisor serves OPS_PORT.
 * @throws if a port is taken, or as `compose` does. Nothing is left open then.
 */
export async function startReplica(config: Config, log: Logger = createLog(config.LOG_LEVEL)): Promise<Replica> {
  const startup = new Startup(log, !process.argv.includes("--no-wait")); // `npm start` says at once what is wrong
  let serving: System | undefined;
  const faults = async (deep: boolean): Promise<string[]> => {
    const restoring = serving?.isRestoring() ? ["restoring"] : [];
    const own = serving === undefined ? ["starting"] : serving.draining.started ? ["draining"] : restoring;
    return deep ? [...own, ...((await serving?.faults()) ?? startup.faults)] : own;
  };
  const registries = [processMetrics(), startup.metrics.registry];
  AggregatorRegistry.setRegistries(registries);
  const source = { faults, metrics: () => Registry.merge(registries).metrics() };
  const ops = cluster.isWorker ? undefined : await serveOps(source, config.OPS_PORT, config.HOST);
  let system: System | undefined;
  try {
    system = await compose(config, startup);
    const server = serverOf(system.app, system.log, config);
    const port = await listen(server, config.PORT, config.HOST);
    serving = system;
    const stop = run(system, server, ops);
    system.log.info({ port, ops_port: ops?.port }, "serving");
    return { port, opsPort: ops?.port ?? 0, stop };
  } catch (error) {
    ops?.close();
    await system?.close();
    throw error;
  }
}

/** Starts the work in the background. Returns `stop` of the replica. */
function run(system: System, server: Server, ops: { close(): void } | undefined): Replica["stop"] {
  for (const work of system.work) work.start();
  void makeLazyValues().catch((error: unknown) =>
    system.log.error({ error: describeFailure(error) }, "what requests will need could not be made ahead"),
  );
  async function stop(quietMs?: number): Promise<void> {
    system.draining.started = true;
    system.log.info("draining");
    await Promise.all([drain(server, quietMs), ...system.work.map((work) => work.stop())]);
    ops?.close();
    await system.close();
    system.log.info("stopped");
  }
  let stopped: Promise<void> | undefined;
  return (quietMs) => (stopped ??= stop(quietMs));
}

/** Creates the HTTP server, which refuses with problem+json, and limits the time of slow clients. */
function serverOf(app: RequestListener, log: Logger, { LOG_CLIENT_ADDRESS: address }: Config): Server {
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: HEADERS_MS,
    requestTimeout: 300_000, // of a whole request: 25 MiB at 100 kB/s take 262 s
    connectionsCheckingInterval: 1_000,
    requireHostHeader: false, // Node's 400 is empty; the middleware `oneHost` sends a problem
  });
  // No limit beside 16 KiB: Node would silently drop headers past the 2,000th, perhaps the API key.
  server.maxHeadersCount = 0;
  server.maxConnections = MAX_CONNECTIONS;
  const connections = boundConnections(server, CONNECTION_RULES, log);
  server.on("request", app);
  lingerOverBodies(server);
  refuseMalformed(server, { connections, newId: newTypeId, log, address });
  return server;
}
