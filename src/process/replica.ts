import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { Logger } from "pino";
import { compose, type System } from "../compose.ts";
import type { Config } from "../config.ts";
import { refuseMalformed } from "../http/client-error.ts";
import { newTypeId } from "../infra/ids.ts";

/** How long open connections have to bring and finish their last request, in milliseconds. */
const DRAIN_MS = 20_000;
/**
 * How long new connections are still taken after /readyz has begun to say no: long enough for a balancer to ask. Afterwards
 * as long for a kept-alive connection without a request: one may be on its way.
 */
const LINGER_MS = 500;
/** About 80 MB of idle ones. Past them new ones are closed at once, so that descriptors are left for Redis and MongoDB. */
const MOST_CONNECTIONS = 10_000;
/** Turns of the event loop without a new connection after which none waits. */
const QUIET_TURNS = 3;

/** One process that serves. */
export interface Replica {
  readonly system: System;
  readonly port: number;
  readonly opsPort: number;
  /** Says it is not ready, stops taking connections, answers what has been asked, lets go of everything. Once, however often called. */
  readonly stop: () => Promise<void>;
}

/** Connects, composes and listens. @throws where a port or a server cannot be had; nothing is then left open. */
export async function startReplica(config: Config, log?: Logger): Promise<Replica> {
  const system = await compose(config, log);
  const server = serverOf(system.app.callback(), system.log);
  const ops = createServer((req, res) => void answerOps(req.url ?? "", res, system.draining.started, system.faults));
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
  return { system, port: portOf(server), opsPort: portOf(ops), stop: () => (stopped ??= stop()) };
}

/** An HTTP server whose every refusal is in the API's own words, and on which nobody holds a connection for nothing for long. */
function serverOf(handle: (req: IncomingMessage, res: ServerResponse) => Promise<void>, log: Logger): Server {
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
  server.maxConnections = MOST_CONNECTIONS;
  const serve = (req: IncomingMessage, res: ServerResponse): void => void handle(req, res);
  server.on("request", serve);
  // Node would answer an expectation it does not know with an empty 417; RFC 9110 (10.1.1) lets us pass over it.
  server.on("checkExpectation", serve);
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

/**
 * Ends without failing a request. While it lingers every answer closes its connection. Then it stops listening, but lets open
 * connections finish: http's own close would cut the idle ones, and with them a request that is already on the wire.
 */
async function drain(server: Server): Promise<void> {
  await setTimeout(LINGER_MS);
  await backlogTaken(server);
  const closed = once(server, "close");
  net.Server.prototype.close.call(server);
  await Promise.race([closed, setTimeout(LINGER_MS)]);
  server.closeIdleConnections();
  const impatient = new AbortController();
  const late = setTimeout(DRAIN_MS, undefined, { signal: impatient.signal }).then(() => server.closeAllConnections(), () => undefined);
  await closed;
  impatient.abort();
  await late;
}

/** Closing a listening socket resets the connections that wait in it, and one is taken each turn of the event loop. */
async function backlogTaken(server: Server): Promise<void> {
  let quiet = 0;
  const taken = () => (quiet = 0);
  server.on("connection", taken);
  while (quiet++ < QUIET_TURNS) await setImmediate();
  server.off("connection", taken);
}

async function answerOps(url: string, res: ServerResponse, draining: boolean, faultsOf: () => Promise<string[]>): Promise<void> {
  const path = url.split("?")[0];
  if (path !== "/livez" && path !== "/readyz") return void res.writeHead(404).end();
  const faults = path === "/livez" ? [] : draining ? ["draining"] : await faultsOf();
  res.writeHead(faults.length === 0 ? 200 : 503, { "Content-Type": "application/json", "Cache-Control": "no-store" });
  res.end(JSON.stringify({ ok: faults.length === 0, faults }));
}
