import { EventEmitter, once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { useStarted } from "../support/use-started.ts";

/** The direction in which data flows through a proxy. */
export type Way = "toServer" | "toClient";

/** A TCP proxy that injects network faults between a client and a server, in each direction separately. */
export interface Proxy {
  readonly port: number;
  /** The proxy's address as a Redis URL. In front of any other server, use only the port. */
  readonly url: string;
  /** Delay of everything sent to the server, in milliseconds. The order is kept. */
  delayMs: number;
  /** Delay of everything sent to the client, in milliseconds. The order is kept. */
  answerDelayMs: number;
  /** If true, the next reply is dropped and its connection is reset. */
  loseAnswer: boolean;
  /** Holds back everything in that direction until `mend`, without breaking any connection. */
  swallow(way: Way): void;
  /** Resets every connection (RST). New connections are accepted. */
  cut(): void;
  /** Resets every connection, and every new one until `mend`. */
  refuse(): void;
  /** Ends every connection in that direction (FIN) and leaves the other direction open. */
  halfClose(way: Way): void;
  /** Ends all delays, accepts connections again, and delivers what was held back, as TCP retransmission would. */
  mend(): void;
  /** Resolves when no data is held back any more. */
  delivered(): Promise<void>;
  close(): void;
}

/** Starts a proxy in front of the server for the suite that calls this. Call it after the hook that starts the server. */
export function useProxy(server: { readonly port: number }): Proxy {
  return useStarted(
    "The proxy",
    () => startProxy(server.port),
    (proxy) => proxy.close(),
  );
}

/** Starts a proxy in front of the server at this port of 127.0.0.1. */
export async function startProxy(port: number): Promise<Proxy> {
  const connections = new Set<Connection>();
  const faults: Faults = {
    delayMs: 0,
    answerDelayMs: 0,
    loseAnswer: false,
    refusing: false,
    swallowed: new Set(),
    held: 0,
    changes: new EventEmitter(),
  };
  faults.changes.setMaxListeners(0);
  const listener = createServer({ allowHalfOpen: true }, (toClient) => {
    toClient.on("error", () => undefined);
    if (faults.refusing) {
      toClient.resetAndDestroy();
      return;
    }
    const connection = new Connection(toClient, connect({ port, host: "127.0.0.1", allowHalfOpen: true }), faults);
    connections.add(connection);
    toClient.on("close", () => connections.delete(connection));
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const own = (listener.address() as AddressInfo).port;
  const cut = (): void => connections.forEach((connection) => connection.reset());
  return Object.assign(faults, {
    port: own,
    url: `redis://127.0.0.1:${own}`,
    cut,
    swallow: (way: Way) => void faults.swallowed.add(way),
    refuse() {
      faults.refusing = true;
      cut();
    },
    halfClose: (way: Way) => connections.forEach((connection) => connection[way].end()),
    mend() {
      Object.assign(faults, { delayMs: 0, answerDelayMs: 0, refusing: false });
      faults.swallowed.clear();
      faults.changes.emit("mended");
    },
    async delivered() {
      while (faults.held > 0) await once(faults.changes, "delivered");
    },
    close() {
      listener.close();
      cut();
    },
  });
}

/** The faults that currently apply to all connections. */
interface Faults {
  delayMs: number;
  answerDelayMs: number;
  loseAnswer: boolean;
  refusing: boolean;
  readonly swallowed: Set<Way>;
  /** Number of chunks that are held back. */
  held: number;
  /** Emits "mended", and "delivered" when no chunk is held back any more. */
  readonly changes: EventEmitter;
}

class Connection {
  readonly toClient: Socket;
  readonly toServer: Socket;
  readonly #faults: Faults;

  constructor(toClient: Socket, toServer: Socket, faults: Faults) {
    this.toClient = toClient;
    this.toServer = toServer;
    this.#faults = faults;
    this.#pass(toClient, "toServer");
    this.#pass(toServer, "toClient");
  }

  reset(): void {
    this.toClient.resetAndDestroy();
    this.toServer.destroy();
  }

  #pass(from: Socket, way: Way): void {
    const to = this[way];
    const pass = this.#inOrder(way);
    from.on("data", (data) => {
      if (way === "toClient" && this.#faults.loseAnswer) {
        this.#faults.loseAnswer = false;
        this.reset();
      } else pass(() => to.writable && to.write(data));
    });
    from.on("end", () => pass(() => to.end()));
    // Deliver what is still in transit, even though its sender is gone.
    from.on("error", () => undefined).on("close", () => pass(() => to.destroySoon()));
  }

  /** Runs actions in order, each once its delay is over and its direction is open. Without faults they run at once. */
  #inOrder(way: Way): (act: () => void) => void {
    const faults = this.#faults;
    let waiting = 0;
    let last: Promise<unknown> = Promise.resolve();
    return (act) => {
      const delay = way === "toServer" ? faults.delayMs : faults.answerDelayMs;
      if (waiting === 0 && delay === 0 && !faults.swallowed.has(way)) return act();
      const due = performance.now() + delay;
      waiting++;
      faults.held++;
      last = last.then(async () => {
        await setTimeout(Math.max(0, due - performance.now()));
        while (faults.swallowed.has(way)) await once(faults.changes, "mended");
        waiting--;
        act();
        if (--faults.held === 0) faults.changes.emit("delivered");
      });
    };
  }
}
