import { once } from "node:events";
import type { Server } from "node:http";
import net, { type AddressInfo } from "node:net";
import type { AcceptOrder, AcceptReport } from "./accept-rounds.ts";
import type { Door } from "./drain.ts";

/** Accepts a replica's share of the connections of a port, as the supervisor allows. */
export class AcceptShare implements Door {
  readonly accepts: net.Server;
  #round = 0;
  #remaining = 0;
  #closed = false;

  /**
   * @param server serves the connections. It does not listen itself: each time that it began to, it would restart the timer
   * by which it finds slow clients.
   * @param maxConnections further ones are closed at once.
   */
  constructor(server: Server, maxConnections: number) {
    this.accepts = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      server.emit("connection", socket);
      this.#accepted();
    });
    this.accepts.maxConnections = maxConnections;
    // Otherwise the others would wait for a replica that is full and takes no more.
    this.accepts.on("drop", () => this.#accepted());
    server.emit("listening"); // begins to look for slow clients
    process.on("message", ({ accept }: { accept?: AcceptOrder }, port: { close(): void }) => {
      if (accept === undefined) return;
      if ("allowance" in accept) this.#allow(accept, port);
      else this.#report(accept.remainingOf);
    });
  }

  /** Resolves with the port once connections are accepted. @throws if the port is taken. */
  async open(): Promise<number> {
    tell("accepts");
    await once(this.accepts, "listening");
    return (this.accepts.address() as AddressInfo).port;
  }

  /** Says that this process is going to stop. If others accept connections, it gets no further allowance. */
  leave(): void {
    tell("leaves");
  }

  close(): void {
    this.#closed = true;
    this.accepts.close();
    tell("left");
  }

  #allow({ round, allowance }: { round: number; allowance: number }, port: { close(): void }): void {
    this.#round = round;
    this.#remaining = allowance;
    if (this.#closed || this.accepts.listening) port.close();
    else this.accepts.listen(port);
  }

  #accepted(): void {
    if (--this.#remaining > 0) return;
    // Closes this process's copy of the port. The loop in which libuv accepts ends with it.
    this.accepts.close();
    this.#report();
  }

  #report(asked?: number): void {
    tell({ ...(asked === undefined ? {} : { asked }), round: this.#round, remaining: this.#remaining });
  }
}

function tell(accept: AcceptReport): void {
  // If the supervisor is gone, node:cluster ends this process.
  process.send?.({ accept }, undefined, undefined, () => undefined);
}
