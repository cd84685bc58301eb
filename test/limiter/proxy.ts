import { EventEmitter, once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { useStarted } from "../support/use-started.ts";

export type Way = "toServer" | "toClient";

/** A network between a client and a server that can be bad, each way by itself. */
export interface Proxy {
  readonly port: number;
  /** As a client of Redis takes it; of another server only the port is right. */
  readonly url: string;
  /** Milliseconds that everything to the server is held up, and everything from it. What was sent stays in order. */
  delayMs: number;
  answerDelayMs: number;
  /** Whether the next answer is lost, and its connection cut. */
  loseAnswer: boolean;
  /** A black hole: from now until `mend` nothing gets through that way, and no connection breaks. */
  swallow(way: Way): void;
  /** Resets every connection (RST); new ones are taken. */
  cut(): void;
  /** Resets every connection, and until `mend` every new one. */
  refuse(): void;
  /** Ends every connection that way (FIN) and leaves the other way open. */
  halfClose(way: Way): void;
  /** No more delay, and connections are taken; what was swallowed gets through, as in a network that sends again. */
  mend(): void;
  /** Resolves when nothing is held up any more. */
  delivered(): Promise<void>;
  close(): void;
}

/** A proxy in front of that server for the suite that calls this. Call it after what starts the server. */
export function useProxy(server: { readonly port: number }): Proxy {
  return useStarted(
    "The proxy",
    () => startProxy(server.port),
    (proxy) => proxy.close(),
  );
}

/** Stands before the server at that port of 127.0.0.1. */
export async function startProxy(port: number): Promise<Proxy> {
  const connections = new Set<Connection>();
  const weather: Weather = {
    delayMs: 0,
    answerDelayMs: 0,
    loseAnswer: false,
    refusing: false,
    swallowed: new Set(),
    held: 0,
    changes: new EventEmitter(),
  };
  weather.changes.setMaxListeners(0);
  const listener = createServer({ allowHalfOpen: true }, (toClient) => {
    toClient.on("error", () => undefined);
    if (weather.refusing) {
      toClient.resetAndDestroy();
      return;
    }
    const connection = new Connection(toClient, connect({ port, host: "127.0.0.1", allowHalfOpen: true }), weather);
    connections.add(connection);
    toClient.on("close", () => connections.delete(connection));
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const own = (listener.address() as AddressInfo).port;
  const cut = (): void => connections.forEach((connection) => connection.reset());
  return Object.assign(weather, {
    port: own,
    url: `redis://127.0.0.1:${own}`,
    cut,
    swallow: (way: Way) => void weather.swallowed.add(way),
    refuse() {
      weather.refusing = true;
      cut();
    },
    halfClose: (way: Way) => connections.forEach((connection) => connection[way].end()),
    mend() {
      Object.assign(weather, { delayMs: 0, answerDelayMs: 0, refusing: false });
      weather.swallowed.clear();
      weather.changes.emit("mended");
    },
    async delivered() {
      while (weather.held > 0) await once(weather.changes, "delivered");
    },
    close() {
      listener.close();
      cut();
    },
  });
}

/** What is the matter now, for all connections. */
interface Weather {
  delayMs: number;
  answerDelayMs: number;
  loseAnswer: boolean;
  refusing: boolean;
  readonly swallowed: Set<Way>;
  /** Chunks that are held up. */
  held: number;
  /** Emits "mended", and "delivered" when nothing is held up any more. */
  readonly changes: EventEmitter;
}

class Connection {
  readonly toClient: Socket;
  readonly toServer: Socket;
  readonly #weather: Weather;

  constructor(toClient: Socket, toServer: Socket, weather: Weather) {
    this.toClient = toClient;
    this.toServer = toServer;
    this.#weather = weather;
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
      if (way === "toClient" && this.#weather.loseAnswer) {
        this.#weather.loseAnswer = false;
        this.reset();
      } else pass(() => to.writable && to.write(data));
    });
    from.on("end", () => pass(() => to.end()));
    // What is still on its way arrives, though its sender has gone.
    from.on("error", () => undefined).on("close", () => pass(() => to.destroySoon()));
  }

  /** Does one thing after the other, each when its delay is over and nothing is swallowed: at once in fair weather. */
  #inOrder(way: Way): (act: () => void) => void {
    const weather = this.#weather;
    let waiting = 0;
    let last: Promise<unknown> = Promise.resolve();
    return (act) => {
      const delay = way === "toServer" ? weather.delayMs : weather.answerDelayMs;
      if (waiting === 0 && delay === 0 && !weather.swallowed.has(way)) return act();
      const due = performance.now() + delay;
      waiting++;
      weather.held++;
      last = last.then(async () => {
        await setTimeout(Math.max(0, due - performance.now()));
        while (weather.swallowed.has(way)) await once(weather.changes, "mended");
        waiting--;
        act();
        if (--weather.held === 0) weather.changes.emit("delivered");
      });
    };
  }
}
