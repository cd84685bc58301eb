import { EventEmitter, once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { useStarted } from "../support/use-started.ts";

/** What is done with a connection, once the nudge's head has come on it. */
export type Behaviour = (socket: Socket, path: string) => void;

export interface HostileReceiver {
  /** http://127.0.0.1:PORT */
  readonly origin: string;
  /** The paths that were asked for, in order. */
  readonly asked: readonly string[];
  /** Number of connections to it. */
  readonly connections: number;
  /** Resolves once the connection of a path is closed. */
  closed(path: string): Promise<Closed>;
  close(): void;
}

export interface Closed {
  /** Number of bytes that were sent on it. Some of them may never have arrived. */
  readonly sent: number;
  readonly openMs: number;
}

/** Starts a receiver that speaks raw TCP. @param behaviours by path; the rest hangs. */
export function useHostileReceiver(behaviours: Readonly<Record<string, Behaviour>>): HostileReceiver {
  return useStarted(
    "The receiver",
    () => start(behaviours),
    (receiver) => receiver.close(),
  );
}

async function start(behaviours: Readonly<Record<string, Behaviour>>): Promise<HostileReceiver> {
  const asked: string[] = [];
  const closed = new EventEmitter();
  const ends = new Map<string, Closed>();
  const sockets = new Set<Socket>();
  const receiver = { connections: 0 };
  const server = createServer((socket) => {
    const began = performance.now();
    receiver.connections++;
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    socket.once("data", (head) => {
      const path = /^POST (\S+)/.exec(head.toString("latin1"))?.[1] ?? "";
      asked.push(path);
      socket.once("close", () => {
        ends.set(path, { sent: socket.bytesWritten, openMs: performance.now() - began });
        closed.emit(path);
      });
      behaviours[path]?.(socket, path);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return Object.assign(receiver, {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async closed(path: string) {
      for (let end; ; await once(closed, path)) if ((end = ends.get(path)) !== undefined) return end;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  });
}

/** Sends a text, then another one again and again until the connection closes. @param everyMs 0: as fast as it is taken. */
export function repeat(socket: Socket, first: string, text: string, everyMs = 0): void {
  socket.write(first);
  const fill = () => {
    while (!socket.destroyed && socket.write(text));
  };
  if (everyMs === 0) {
    socket.on("drain", fill);
    return fill();
  }
  const timer = setInterval(() => socket.write(text), everyMs);
  socket.once("close", () => clearInterval(timer));
}
