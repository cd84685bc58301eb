import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { hasBody } from "./body.ts";

/** Limits of one connection. Times are in milliseconds. */
export interface ConnectionRules {
  /** Maximum open requests: those whose response was not sent whole. */
  readonly maxOpen: number;
  /** Maximum time in which the client takes no byte of a response. */
  readonly maxUnreadMs: number;
  /** Maximum time without a request, whatever else arrives. Longer than the server's keepAliveTimeout. */
  readonly maxIdleMs: number;
}

export interface Log {
  info(fields: object, message: string): void;
}

interface Connection {
  /** The responses that were not sent whole, oldest first. */
  readonly open: ServerResponse[];
  /** The latest request. Its body may still arrive after its response was sent. */
  latest: IncomingMessage | undefined;
  /** When the client last took bytes, or last had a request, by `performance.now()`. */
  since: number;
  /** Bytes that the client had taken by then. */
  taken: number;
}

/** Interval of the checks, in milliseconds. A check of 10,000 connections takes 5 ms. */
const CHECK_MS = 5_000;

/**
 * Bounds what a connection costs. Node reads up to 64 KiB at once, and begins every request in it: without a bound these
 * are 1,700 requests, whose responses are kept until the client reads them. Call it before adding any other listener.
 */
export function boundConnections(server: Server, rules: ConnectionRules, log: Log) {
  const all = new Map<Duplex, Connection>();
  const end = (socket: Duplex, reason: string): void => {
    socket.destroy();
    log.info({ reason }, "connection closed");
  };
  server.on("connection", (socket) => {
    const connection: Connection = { open: [], latest: undefined, since: performance.now(), taken: 0 };
    all.set(socket, connection);
    socket.once("close", () => {
      all.delete(socket);
      // Node closes the response that is being sent. Those that wait for their turn would never end.
      for (const res of connection.open.slice()) if (res.socket === null) res.emit("close");
    });
  });
  server.on("request", (req, res): void => {
    const connection = all.get(req.socket);
    // Costs half as much as the error with a stack that Node would make for each remaining request.
    if (connection === undefined || req.socket.destroyed) return void req.destroy();
    const { open } = connection;
    if (open.length >= rules.maxOpen) {
      end(req.socket, "too many requests are open on it");
      return void req.destroy();
    }
    connection.latest = req;
    open.push(res);
    res.once("close", () => {
      open.splice(open.indexOf(res), 1);
      connection.since = performance.now();
    });
  });
  // Ignores unknown Expect headers, as RFC 9110 (10.1.1) allows. Node would send an empty 417.
  server.on("checkExpectation", (req, res) => server.emit("request", req, res));
  const check = (): void => {
    const now = performance.now();
    for (const [socket, connection] of all) {
      const { open, latest, since } = connection;
      const taken = (socket as Socket).bytesWritten - socket.writableLength;
      const isStuck =
        open.length > 0 ? socket.writableLength > 0 && taken === connection.taken : latest?.complete !== false;
      if (!isStuck) Object.assign(connection, { since: now, taken });
      else if (open.length > 0 && now - since > rules.maxUnreadMs) end(socket, "its response is not read");
      else if (open.length === 0 && now - since > rules.maxIdleMs) end(socket, "it sends no request");
    }
  };
  const checking = setInterval(check, Math.min(CHECK_MS, rules.maxIdleMs / 4)).unref();
  server.once("close", () => clearInterval(checking));
  /** Returns the responses that a connection still has to send whole, oldest first. */
  const openOn = (socket: Duplex): readonly ServerResponse[] => all.get(socket)?.open ?? [];
  return { openOn };
}

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
  server.on("request", (req, res) => {
    if (!hasBody(req)) return;
    const { socket, headers } = req;
    const isEndless =
      headers["transfer-encoding"] !== undefined || Number(headers["content-length"]) > MAX_DISCARDED_BYTES;
    if (isEndless) closeUnlessComplete(req, res);
    socket.destroySoon = () => {
      if (req.complete) return Socket.prototype.destroySoon.call(socket);
      socket.end();
      socket.setTimeout(QUIET_MS);
      if (isEndless) discard(socket);
      else req.once("close", () => socket.destroy());
    };
  });
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
