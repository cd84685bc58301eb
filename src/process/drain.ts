import { once } from "node:events";
import type { Server } from "node:http";
import net from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";

/** Maximum time for open requests, in milliseconds. Then their connections are closed. */
const MAX_REQUESTS_MS = 20_000;
/**
 * The server stops listening once no connection has come for this many milliseconds. Idle connections stay open for
 * this long again, because a request may already be on its way.
 */
const QUIET_MS = 500;
/** Maximum time until the server stops listening, in milliseconds. The readiness probe must notice before: see test/k8s. */
export const MAX_LISTEN_MS = 20_000;
/** Maximum time of `drain`, in milliseconds. The pod's grace period must be longer: see test/k8s. */
export const MAX_STOP_MS = MAX_LISTEN_MS + 2 * QUIET_MS + MAX_REQUESTS_MS;
/** A connection that waits in the backlog is accepted within this many turns of the event loop. */
const TURNS = 3;

/**
 * Stops a server without failing a request. First it keeps accepting connections until no more come, and every response
 * closes its connection. Then it stops listening and lets the open connections finish.
 * @param quietMs for tests that stop a server to which nobody will connect.
 */
export async function drain(server: Server, quietMs = QUIET_MS): Promise<void> {
  await acceptUntilQuiet(server, quietMs);
  const closed = once(server, "close");
  // That of node:http also closes idle connections, and one of them may have a request on the wire.
  net.Server.prototype.close.call(server);
  await Promise.race([closed, setTimeout(quietMs)]);
  await turns();
  server.closeIdleConnections();
  const deadline = globalThis.setTimeout(() => server.closeAllConnections(), MAX_REQUESTS_MS);
  await closed;
  clearTimeout(deadline);
}

/**
 * Waits until no connection has come for `quietMs`: the load balancer has stopped sending them. When a listening socket is
 * closed, the kernel resets the connections that were not accepted yet, and no server can prevent that.
 */
async function acceptUntilQuiet(server: Server, quietMs: number): Promise<void> {
  let accepted = 0;
  const count = () => accepted++;
  server.on("connection", count);
  const deadline = performance.now() + MAX_LISTEN_MS;
  let before: number;
  do {
    before = accepted;
    await setTimeout(quietMs);
    await turns(); // connections may be waiting if the process had no CPU time
  } while (accepted > before && performance.now() < deadline);
  server.off("connection", count);
}

/** Lets the event loop accept connections and read requests that have already arrived. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await setImmediate();
}
