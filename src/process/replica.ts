import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import { compose } from "../compose.ts";
import type { Config } from "../config.ts";
import { refuseMalformed } from "../http/client-error.ts";
import { newTypeId } from "../infra/ids.ts";
import { drain } from "./drain.ts";
import { opsServer } from "./ops.ts";

/** About 80 MB of idle ones. Past them new ones are closed at once, so that descriptors are left for Redis and MongoDB. */
const MAX_CONNECTIONS = 10_000;

/** One process that serves. */
export interface Replica {
  readonly port: number;
  readonly opsPort: number;
  /** Says it is not ready, stops taking connections, answers what has been asked, lets go of everything. Once, however often called. */
  readonly stop: () => Promise<void>;
}

/** Connects, composes and listens. @throws where a port or a server cannot be had; nothing is then left open. */
export async function startReplica(config: Config, log?: Logger): Promise<Replica> {
  const system = await compose(config, log);
  const server = serverOf(system.app, system.log);
  const ops = opsServer(system);
  try {
    await listen(server, config.PORT, config.HOST);
    await listen(ops, config.OPS_PORT, config.HOST);
  } catch (error) {
    server.close();
    await system.close();
    throw error;
  }
  system.sweeps.start();
  let stopped: Promise<void> | undefined;
  async function stop(): Promise<void> {
    system.draining.started = true;
    system.log.info("draining");
    await Promise.all([drain(server), system.sweeps.stop()]);
    ops.close();
    ops.closeAllConnections();
    await system.close();
    system.log.info("stopped");
  }
  system.log.info({ port: portOf(server), ops_port: portOf(ops) }, "serving");
  return { port: portOf(server), opsPort: portOf(ops), stop: () => (stopped ??= stop()) };
}

/** An HTTP server whose every refusal is in the API's own words, and on which nobody holds a connection for nothing for long. */
function serverOf(app: RequestListener, log: Logger): Server {
  const server = createServer({
    // Longer than the usual balancer's minute: it must not be us who close a connection it is about to use.
    keepAliveTimeout: 75_000,
    // Headers that come in byte by byte, and connections on which nothing comes at all.
    headersTimeout: 10_000,
    // A whole request: 25 MiB at 100 kB/s, with something left over.
    requestTimeout: 300_000,
    connectionsCheckingInterval: 1_000,
    // Node would answer with an empty 400: the middleware `oneHost` says why.
    requireHostHeader: false,
  });
  // 16 KiB bound them already; those past Node's 2,000 would be dropped without a word, a key perhaps among them.
  server.maxHeadersCount = 0;
  server.maxConnections = MAX_CONNECTIONS;
  server.on("request", app);
  // Node would answer an expectation it does not know with an empty 417; RFC 9110 (10.1.1) lets us pass over it.
  server.on("checkExpectation", app);
  refuseMalformed(server, { newId: newTypeId, log });
  return server;
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  await once(server, "listening");
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
