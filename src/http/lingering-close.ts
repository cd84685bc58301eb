import type { IncomingMessage, Server } from "node:http";
import { Socket } from "node:net";
import { hasBody } from "./body.ts";

/** After the answer, a connection on which nothing arrives for this many milliseconds is closed. nginx waits as long. */
const QUIET_MS = 5_000;

/**
 * Lets a client that is still sending its body read the answer (RFC 9112, 9.6). A refusal does not wait for the body. If
 * the connection were then closed at once, the client's next bytes would meet a closed port: the reset can reach the
 * client, or its proxy, before it has read the answer. So the service ends its own direction, discards what still
 * arrives, and closes the connection when the body is complete. The server's requestTimeout limits how long that takes.
 *
 * Node calls `destroySoon` once it has sent an answer after which the connection closes.
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
