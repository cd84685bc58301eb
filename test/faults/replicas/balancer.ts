import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Balancer {
  readonly url: string;
  close(): void;
}

/** The ports of a service: for requests, and for its readiness at /readyz. */
export interface Backend {
  readonly port: number;
  readonly opsPort: number;
}

const ASK_EVERY_MS = 100;

/**
 * A round-robin TCP balancer on 127.0.0.1. It polls the readiness of each service, skips those that are not ready, and
 * tries the next one if a service does not accept the connection. After that it only passes bytes on.
 */
export async function startBalancer(backends: () => readonly Backend[]): Promise<Balancer> {
  const sockets = new Set<Socket>();
  const unready = new Set<number>();
  let turn = 0;
  const polling = setInterval(() => {
    for (const { port, opsPort } of backends()) {
      const ready = fetch(`http://127.0.0.1:${opsPort}/readyz`, { signal: AbortSignal.timeout(ASK_EVERY_MS * 5) });
      // A slow or missing response changes nothing: on a busy machine all services may be slow.
      void ready.then(
        ({ ok }) => (ok ? unready.delete(port) : unready.add(port)),
        () => undefined,
      );
    }
  }, ASK_EVERY_MS);
  function ports(): number[] {
    const all = backends().map(({ port }) => port);
    const ready = all.filter((port) => !unready.has(port));
    // If none is ready, try all: the request may not need what is missing, and a 503 tells more than a closed connection.
    return ready.length > 0 ? ready : all;
  }

  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    sockets.add(client);
    client.on("error", () => undefined).on("close", () => sockets.delete(client));
    void reach(client);
  });

  async function reach(client: Socket): Promise<void> {
    const targets = ports();
    for (let tried = 0; tried < targets.length; tried++) {
      const port = targets[turn++ % targets.length];
      if (port === undefined) continue;
      const replica = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
      if (
        !(await once(replica, "connect").then(
          () => true,
          () => false,
        ))
      )
        continue;
      sockets.add(replica);
      pass(client, replica);
      pass(replica, client);
      return;
    }
    client.destroy();
  }

  function pass(from: Socket, to: Socket): void {
    from.on("error", () => to.destroy()).on("close", () => sockets.delete(from));
    from.pipe(to);
  }

  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      clearInterval(polling);
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
