import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { hasBody } from "./body.ts";

/** After the response, a connection on which nothing arrives for this many milliseconds is closed. nginx waits as long. */
const QUIET_MS = 5_000;
/** Maximum time for which what arrives after the response is discarded, in milliseconds. nginx takes as long. */
const MAX_MS = 30_000;
/** Maximum discarded bytes. More than the largest body. */
const MAX_DISCARDED_BYTES = 32 * 1024 * 1024;

/**
 * Keeps a connection open until the request's body is complete, although its last response was sent (RFC 9112, 9.6). If it
 * were closed at once, the kernel would reply to the client's next bytes with a reset, and the client, or its proxy, might
 * never read the refusal. So the service ends its own direction, discards what still arrives, and closes the connection at
 * the end of the body, or at the server's requestTimeout.
 *
 * A body that may have no end makes its response the last of the connection. What follows is not even parsed: tiny chunks
 * would cost more than requests do. Node calls `destroySoon` when the last response of a connection was sent.
 */
export function lingerOverBodies(server: Server): void {
  const linger = (req: IncomingMessage, res: ServerResponse): void => {
    if (!hasBody(req)) return;
    const { socket } = req;
    const isEndless = mayBeEndless(req);
    if (isEndless) closeUnlessComplete(req, res);
    socket.destroySoon = () => {
      if (req.complete) return Socket.prototype.destroySoon.call(socket);
      socket.end();
      socket.setTimeout(QUIET_MS);
      if (isEndless) discard(socket);
      else req.once("close", () => socket.destroy());
    };
  };
  server.on("request", linger);
  server.on("checkExpectation", linger);
}

function mayBeEndless({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"]) > MAX_DISCARDED_BYTES;
}

/** Lets the response say `Connection: close` if the body is incomplete when its headers are sent. */
function closeUnlessComplete(req: IncomingMessage, res: ServerResponse): void {
  let { shouldKeepAlive } = res;
  Object.defineProperty(res, "shouldKeepAlive", {
    get: () => shouldKeepAlive && req.complete,
    set(value: boolean) {
      shouldKeepAlive = value;
    },
  });
}

/** Discards what arrives, unparsed, up to a bound. Then, or when the client ends, the connection is closed. */
function discard(socket: Socket): void {
  let left = MAX_DISCARDED_BYTES;
  const timer = setTimeout(() => socket.destroy(), MAX_MS).unref();
  socket.once("close", () => clearTimeout(timer));
  socket.removeAllListeners("data"); // Node's HTTP parser
  socket.on("data", ({ length }) => {
    left -= length;
    if (left < 0) socket.destroy();
  });
  socket.once("end", () => socket.destroy());
  socket.resume();
}
