import type { IncomingMessage, Server } from "node:http";
import { Socket } from "node:net";
import { hasBody } from "./body.ts";

/** After the answer, a connection on which nothing arrives for this many milliseconds is closed. nginx waits as long. */
const QUIET_MS = 5_000;

/**
 * Keeps a connection open until the request's body is complete, although its last answer was sent (RFC 9112, 9.6). A
 * refusal does not wait for the body. If the connection were closed at once, the kernel would answer the client's next
 * bytes with a reset, and the client, or its proxy, might never read the refusal. So the service ends its own direction,
 * discards what still arrives, and closes the connection at the end of the body, or at the server's requestTimeout.
 *
 * Node calls `destroySoon` when the last answer of a connection was sent.
 */
export function lingerOverBodies(server: Server): void {
  const linger = (req: IncomingMessage): void => {
    if (!hasBody(req)) return;
    const { socket } = req;
    socket.destroySoon = () => {
      if (req.complete) {
        Socket.prototype.destroySoon.call(socket);
        return;
      }
      socket.end();
      socket.setTimeout(QUIET_MS);
      req.once("close", () => socket.destroy());
    };
  };
  server.on("request", linger);
  server.on("checkExpectation", linger);
}
