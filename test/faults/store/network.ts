import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";

/** A network between the service and MongoDB that can be bad. */
export interface Network {
  readonly port: number;
  /** Milliseconds that everything to MongoDB is held up. */
  delayMs: number;
  /** Holds up what it says yes to, with all that comes after it on that connection, until `release`. */
  holds: (data: Buffer) => boolean;
  /** How many connections are held up. */
  readonly held: number;
  release(): void;
  /** Cuts every connection. */
  cut(): void;
  close(): void;
}

export async function startNetwork(port: number): Promise<Network> {
  const sockets = new Set<Socket>();
  let held: (() => void)[] = [];
  const server = createServer((client) => {
    const mongo = connect(port, "127.0.0.1");
    let sent: Promise<unknown> = Promise.resolve(); // in order, whatever each was delayed by
    let open = true;
    client.on("data", (data) => {
      const due = performance.now() + network.delayMs;
      const freed = network.holds(data) ? new Promise<void>((resolve) => held.push(resolve)) : undefined;
      sent = sent
        .then(() => freed)
        .then(() => setTimeout(Math.max(0, due - performance.now())))
        .then(() => mongo.write(data));
    });
    mongo.on("data", (data) => open && client.write(data));
    // What was sent before the client went away arrives all the same, as it does on a slow wire.
    client.on("close", () => {
      open = false;
      sockets.delete(client);
      void sent.then(() => mongo.end());
    });
    mongo.on("close", () => {
      sockets.delete(mongo);
      client.destroy();
    });
    for (const socket of [client, mongo]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const network: Network = {
    port: (server.address() as AddressInfo).port,
    delayMs: 0,
    holds: () => false,
    get held() {
      return held.length;
    },
    release() {
      for (const free of held) free();
      held = [];
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return network;
}
