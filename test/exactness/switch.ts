import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy whose target can change, like the address of a Redis in a failover. */
export interface Switch {
  readonly port: number;
  /** Closes every connection. New ones reach this port. */
  to(port: number): void;
  close(): void;
}

export async function startSwitch(target: number): Promise<Switch> {
  const sockets = new Set<Socket>();
  const end = () => sockets.forEach((socket) => socket.destroy());
  let current = target;
  const server = createServer((incoming) => {
    const outgoing = connect(current, "127.0.0.1");
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => [incoming, outgoing].forEach((each) => each.destroy()));
      socket.on("close", () => sockets.delete(socket));
    }
    incoming.pipe(outgoing).pipe(incoming);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    to(port) {
      current = port;
      end();
    },
    close() {
      server.close();
      end();
    },
  };
}
