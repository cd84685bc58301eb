import cluster from "node:cluster";
import { createServer, type RequestListener, type Server } from "node:http";
import type { Logger } from "pino";
import { Registry } from "prom-client";
import { compose, type System } from "../compose.ts";
import type { Config } from "../config.ts";
import { refuseMalformed } from "../http/client-error.ts";
import { Connections } from "../http/connections.ts";
import { lingerOverBodies } from "../http/lingering-close.ts";
import { makeAhead } from "../infra/ahead.ts";
import { newTypeId } from "../infra/ids.ts";
import { describeFailure } from "../infra/log.ts";
import { flushed } from "../infra/log-output.ts";
import { processMetrics } from "../infra/process-metrics.ts";
import { drain } from "./drain.ts";
import { answerSupervisor } from "./fleet-ops.ts";
import { listen } from "./listen.ts";
import { serveOps } from "./ops.ts";

/** Idle, this many take about 80 MB. Further ones are closed at once, to leave file descriptors for Redis and MongoDB. */
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
  /**
   * Reports not ready, stops accepting connections, finishes open requests, then closes everything. Idempotent.
   * @param quietMs how long no connection must have come, as in `drain`.
   */
  readonly stop: (quietMs?: number) => Promise<void>;
}

/**
 * Connects, composes and listens. Answers operators from the beginning: with much data, to create an index takes longer
 * than Kubernetes waits for a process that does not answer.
 * @throws if a port is taken or a server cannot be reached. Nothing is left open then.
 */
export async function startReplica(config: Config, log?: Logger): Promise<Replica> {
  let serving: System | undefined;
  const ops = await answerOps(() => serving, config);
  let system: System | undefined;
  try {
    system = await compose(config, log);
    const server = serverOf(system.app, system.log);
    const port = await listen(server, config.PORT, config.HOST);
    serving = system;
    return running(system, { server, port, ops });
  } catch (error) {
    ops.close();
    await system?.close();
    throw error;
  }
}

interface Open {
  readonly server: Server;
  readonly port: number;
  readonly ops: { port: number; close(): void };
}

function running(system: System, { server, port, ops }: Open): Replica {
  for (const work of system.work) work.start();
  void makeAhead().catch((error: unknown) =>
    system.log.error({ error: describeFailure(error) }, "what requests will need could not be made ahead"),
  );
  let stopped: Promise<void> | undefined;
  async function stop(quietMs?: number): Promise<void> {
    system.draining.started = true;
    system.log.info("draining");
    await Promise.all([drain(server, quietMs), ...system.work.map((work) => work.stop())]);
    ops.close();
    await system.close();
    system.log.info("stopped");
    await flushed(system.log);
  }
  system.log.info({ port, ops_port: ops.port }, "serving");
  return { port, opsPort: ops.port, stop: (quietMs) => (stopped ??= stop(quietMs)) };
}

/**
 * Answers operators on OPS_PORT; if a supervisor runs several replicas on one port, answers the supervisor instead.
 * @param serving returns undefined until the service accepts requests.
 */
async function answerOps(
  serving: () => System | undefined,
  { OPS_PORT, HOST }: Config,
): Promise<{ port: number; close(): void }> {
  const faults = async () => {
    const system = serving();
    if (system === undefined) return ["starting"];
    return system.draining.started ? ["draining"] : system.faults();
  };
  const registry = () => {
    const system = serving();
    return Registry.merge([...(system === undefined ? [] : [system.metrics.registry]), processMetrics()]);
  };
  if (!cluster.isWorker) return serveOps({ faults, metrics: () => registry().metrics() }, OPS_PORT, HOST);
  answerSupervisor({ faults, metrics: () => registry().getMetricsAsJSON() });
  return { port: 0, close: () => undefined };
}

/** Creates the HTTP server. It answers refusals with problem+json, and limits how long a slow client may take. */
function serverOf(app: RequestListener, log: Logger): Server {
  const server = createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Closes connections that send their headers byte by byte, or send nothing at all.
    headersTimeout: HEADERS_MS,
    // Limits a whole request. 25 MiB at 100 kB/s take 262 s.
    requestTimeout: 300_000,
    connectionsCheckingInterval: 1_000,
    // Node would answer with an empty 400. The middleware `oneHost` answers with a problem instead.
    requireHostHeader: false,
  });
  // 0 is no limit: 16 KiB limit them already. Node would silently drop headers past the 2,000th, perhaps the API key.
  server.maxHeadersCount = 0;
  server.maxConnections = MAX_CONNECTIONS;
  const connections = new Connections(CONNECTION_RULES, log);
  connections.watch(server);
  server.on("request", app);
  // Node would answer an unknown Expect header with an empty 417. RFC 9110 (10.1.1) lets us ignore it.
  server.on("checkExpectation", app);
  lingerOverBodies(server);
  refuseMalformed(server, { connections, newId: newTypeId, log });
  return server;
}
