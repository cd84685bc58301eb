import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Balancer {
  readonly url: string;
  close(): void;
}

/** Where a service listens, and where it says whether it is ready. */
export interface Backend {
  readonly port: number;
  readonly opsPort: number;
}

const ASK_EVERY_MS = 100;

/**
 * A TCP balancer on 127.0.0.1 that gives each new connection to the next service in turn. Like any, it asks them whether
 * they are ready, leaves those out that say no, and goes on to the one after where a connection is not taken; once it is
 * taken, its bytes are passed on and nothing is mended.
 */
export async function startBalancer(backends: () => readonly Backend[]): Promise<Balancer> {
  const sockets = new Set<Socket>();
  const unready = new Set<number>();
  let turn = 0;
  const asking = setInterval(() => {
    for (const { port, opsPort } of backends()) {
      const ready = fetch(`http://127.0.0.1:${opsPort}/readyz`, { signal: AbortSignal.timeout(ASK_EVERY_MS * 5) });
      // One that is merely slow to say so is left in: on a busy machine that would be all of them.
      void ready.then(
        ({ ok }) => (ok ? unready.delete(port) : unready.add(port)),
        () => undefined,
      );
    }
  }, ASK_EVERY_MS);
  function ports(): number[] {
    const all = backends().map(({ port }) => port);
    const ready = all.filter((port) => !unready.has(port));
    // Where none is ready, all are tried: what they lack may not concern this request, and a 503 says more than a cut.
    return ready.length > 0 ? ready : all;
  }

  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    sockets.add(client);
    client.on("error", () => undefined).on("close", () => sockets.delete(client));
    void reach(client);
  });

  async function reach(client: Socket): Promise<void> {
    const among = ports();
    for (let tried = 0; tried < among.length; tried++) {
      const port = among[turn++ % among.length];
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
      clearInterval(asking);
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
