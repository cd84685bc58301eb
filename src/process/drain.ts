import { once } from "node:events";
import type { Server } from "node:http";
import net from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";

/** After this time, connections that are still open are closed, even in the middle of a request. In milliseconds. */
const MAX_DRAIN_MS = 20_000;
/**
 * New connections are accepted for this many milliseconds after /readyz starts to answer 503, so that the load balancer
 * notices first. Idle connections stay open for this long again, because a request may already be on its way.
 */
const LINGER_MS = 500;
/** The longest that `drain` takes, in milliseconds. The pod's grace period must be longer: see test/k8s. */
export const LONGEST_DRAIN_MS = 2 * LINGER_MS + MAX_DRAIN_MS;
/** After this many turns of the event loop without a new connection, the backlog counts as empty. */
const QUIET_TURNS = 3;

/**
 * Stops a server without failing a request. It first goes on accepting connections for LINGER_MS, while every answer
 * closes its connection. Then it stops listening and lets the open connections finish. It calls the `close` of
 * node:net, because that of node:http also closes idle connections, and one of them may have a request on the wire.
 */
export async function drain(server: Server): Promise<void> {
  await setTimeout(LINGER_MS);
  await acceptBacklog(server);
  const closed = once(server, "close");
  net.Server.prototype.close.call(server);
  await Promise.race([closed, setTimeout(LINGER_MS)]);
  server.closeIdleConnections();
  const finished = new AbortController();
  const deadline = setTimeout(MAX_DRAIN_MS, undefined, { signal: finished.signal }).then(
    () => server.closeAllConnections(),
    () => undefined,
  );
  await closed;
  finished.abort();
  await deadline;
}

/**
 * Waits until the backlog of the listening socket is empty. Closing the socket would reset the connections in it. Node
 * accepts one connection per turn of the event loop.
 */
async function acceptBacklog(server: Server): Promise<void> {
  let quietTurns = 0;
  const onConnection = () => (quietTurns = 0);
  server.on("connection", onConnection);
  while (quietTurns++ < QUIET_TURNS) await setImmediate();
  server.off("connection", onConnection);
}
