import { once } from "node:events";
import type { Server } from "node:http";
import net from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";

/** How long open connections have to send and finish their last request, in milliseconds. */
const DRAIN_MS = 20_000;
/**
 * How long new connections are still accepted after /readyz has begun to answer 503: long enough for a balancer to ask. After
 * that, how long a kept-alive connection without a request stays open: one may be on its way.
 */
const LINGER_MS = 500;
/** Turns of the event loop without a new connection after which none is waiting. */
const QUIET_TURNS = 3;

/**
 * Stops a server without failing a request. First it lingers, and every answer closes its connection. Then it stops listening
 * but lets open connections finish. The close of node:http would cut idle connections, and with them a request that is
 * already on the wire.
 */
export async function drain(server: Server): Promise<void> {
  await setTimeout(LINGER_MS);
  await backlogTaken(server);
  const closed = once(server, "close");
  net.Server.prototype.close.call(server);
  await Promise.race([closed, setTimeout(LINGER_MS)]);
  server.closeIdleConnections();
  const impatient = new AbortController();
  const late = setTimeout(DRAIN_MS, undefined, { signal: impatient.signal }).then(
    () => server.closeAllConnections(),
    () => undefined,
  );
  await closed;
  impatient.abort();
  await late;
}

/** Closing a listening socket resets the connections that wait in it. Node accepts one in each turn of the event loop. */
async function backlogTaken(server: Server): Promise<void> {
  let quiet = 0;
  const taken = () => (quiet = 0);
  server.on("connection", taken);
  while (quiet++ < QUIET_TURNS) await setImmediate();
  server.off("connection", taken);
}
