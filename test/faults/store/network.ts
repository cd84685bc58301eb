import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";

/** A TCP proxy that injects network faults between the service and MongoDB. */
export interface Network {
  readonly port: number;
  /** Delay of everything sent to MongoDB, in milliseconds. */
  delayMs: number;
  /** If it returns true for a chunk, that chunk and everything after it on its connection are held back until `release`. */
  holds: (data: Buffer) => boolean;
  /** Number of chunks that `holds` has held back. */
  readonly held: number;
  release(): void;
  /** Cuts every connection. */
  cut(): void;
  close(): void;
}

/** Starts a proxy to the server at this address. */
export async function startNetwork(port: number, host = "127.0.0.1"): Promise<Network> {
  const sockets = new Set<Socket>();
  let held: (() => void)[] = [];
  const server = createServer((client) => {
    const mongo = connect(port, host);
    let sent: Promise<unknown> = Promise.resolve(); // keeps the chunks in order whatever their delays
    let open = true;
    client.on("data", (data) => {
      const due = performance.now() + network.delayMs;
      const released = network.holds(data) ? new Promise<void>((resolve) => held.push(resolve)) : undefined;
      sent = sent
        .then(() => released)
        .then(() => setTimeout(Math.max(0, due - performance.now())))
        .then(() => mongo.write(data));
    });
    mongo.on("data", (data) => open && client.write(data));
    // What the client sent before it disconnected still arrives, as on a slow network.
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
      for (const release of held) release();
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
