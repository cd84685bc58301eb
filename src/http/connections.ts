import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Socket } from "node:net";

/** A request, and its response. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/** Limits of one connection. Times are in milliseconds. */
export interface ConnectionRules {
  /** Maximum open requests: begun, and not fully answered. */
  readonly maxOpen: number;
  /** Maximum time in which the client takes no byte of a response. */
  readonly maxUnreadMs: number;
  /** Maximum time without a request, whatever else arrives. Longer than the server's keepAliveTimeout. */
  readonly maxIdleMs: number;
}

interface Connection {
  /** Oldest first. */
  readonly open: Exchange[];
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
 * are 1,700 requests, whose responses are kept until the client reads them. Add it before any other listener.
 */
export class Connections {
  readonly #rules: ConnectionRules;
  readonly #log: { info(fields: object, message: string): void };
  readonly #all = new Map<Duplex, Connection>();

  constructor(rules: ConnectionRules, log: { info(fields: object, message: string): void }) {
    this.#rules = rules;
    this.#log = log;
  }

  watch(server: Server): void {
    server.on("connection", (socket) => this.#add(socket));
    const begin = (req: IncomingMessage, res: ServerResponse) => this.#begin({ req, res });
    server.on("request", begin);
    server.on("checkExpectation", begin);
    const checking = setInterval(() => this.#check(), Math.min(CHECK_MS, this.#rules.maxIdleMs / 4)).unref();
    server.once("close", () => clearInterval(checking));
  }

  /** Returns a connection's open requests, oldest first. */
  openOn(socket: Duplex): readonly Exchange[] {
    return this.#all.get(socket)?.open ?? [];
  }

  #add(socket: Socket): void {
    const connection: Connection = { open: [], latest: undefined, since: performance.now(), taken: 0 };
    this.#all.set(socket, connection);
    socket.once("close", () => {
      this.#all.delete(socket);
      // Node closes the response that is being sent. Those that wait for their turn would never end.
      for (const { res } of connection.open.slice()) if (res.socket === null) res.emit("close");
    });
  }

  #begin(exchange: Exchange): void {
    const { req, res } = exchange;
    const connection = this.#all.get(req.socket);
    // Costs half as much as the error with a stack that Node would make for each remaining request.
    if (connection === undefined || req.socket.destroyed) return void req.destroy();
    const { open } = connection;
    if (open.length >= this.#rules.maxOpen) {
      this.#end(req.socket, "too many requests are open on it");
      return void req.destroy();
    }
    connection.latest = req;
    open.push(exchange);
    res.once("close", () => {
      open.splice(open.indexOf(exchange), 1);
      connection.since = performance.now();
    });
  }

  #check(): void {
    const now = performance.now();
    for (const [socket, connection] of this.#all) {
      const { open, latest, since } = connection;
      const taken = (socket as Socket).bytesWritten - socket.writableLength;
      const isStuck =
        open.length > 0 ? socket.writableLength > 0 && taken === connection.taken : latest?.complete !== false;
      if (!isStuck) Object.assign(connection, { since: now, taken });
      else if (open.length > 0 && now - since > this.#rules.maxUnreadMs) this.#end(socket, "its response is not read");
      else if (open.length === 0 && now - since > this.#rules.maxIdleMs) this.#end(socket, "it sends no request");
    }
  }

  #end(socket: Duplex, reason: string): void {
    socket.destroy();
    this.#log.info({ reason }, "connection closed");
  }
}
