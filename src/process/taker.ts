import type { Server } from "node:http";
import { Socket } from "node:net";
import { type Entrance, MAX_LISTEN_MS } from "./drain.ts";
import type { HandOutMessage, TakerMessage } from "./hand-out.ts";

/**
 * Takes the connections that the supervisor hands over, for a server that does not listen itself.
 * @param maxConnections further ones are closed at once.
 */
export function takeConnections(server: Server, maxConnections: number): Entrance {
  const open = new Set<Socket>();
  const waits: { noMore?: () => void; closed?: () => void } = {};
  process.on("message", ({ handOut }: Partial<HandOutMessage>, socket: unknown) => {
    if (handOut === "no more") waits.noMore?.();
    if (handOut !== "connection") return;
    tell("taken");
    if (!(socket instanceof Socket)) return; // it broke on its way
    if (open.size >= maxConnections) {
      socket.destroy();
      return;
    }
    open.add(socket);
    socket.once("close", () => {
      open.delete(socket);
      if (open.size === 0) waits.closed?.();
    });
    socket.allowHalfOpen = true; // as node:http does with those that it accepts
    server.emit("connection", socket);
  });
  // node:http begins to watch over slow clients with this event.
  server.emit("listening");
  return {
    async shut() {
      tell("leaving");
      await new Promise<void>((resolve) => {
        waits.noMore = resolve;
        setTimeout(resolve, MAX_LISTEN_MS).unref();
      });
      return {
        closed: new Promise<void>((resolve) => {
          waits.closed = resolve;
          if (open.size === 0) resolve();
        }),
      };
    },
  };
}

function tell(taker: TakerMessage["taker"]): void {
  process.send?.({ taker } satisfies TakerMessage);
}
