import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { useStarted } from "../support/use-started.ts";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** By `performance.now()`. */
  readonly at: number;
}

export interface Receiver {
  /** http://127.0.0.1:PORT */
  readonly origin: string;
  readonly received: readonly Received[];
  /** Answers a path from now on. By default each is answered with 204. */
  answer(path: string, answer: (response: ServerResponse, request: Received) => void): void;
  /** Resolves once so many nudges have come to the path, with all of them. */
  nudges(path: string, count: number): Promise<Received[]>;
  close(): void;
}

/** Starts a receiver of nudges on a free port of loopback. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const answers = new Map<string, (response: ServerResponse, request: Received) => void>();
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const path = request.url ?? "";
      const nudge = { path, headers: request.headers, body: body.toString(), at: performance.now() };
      received.push(nudge);
      for (const look of waiting) look();
      const answer = answers.get(path) ?? (() => response.writeHead(204).end());
      answer(response, nudge);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const to = (path: string) => received.filter((nudge) => nudge.path === path);
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (path, answer) => void answers.set(path, answer),
    nudges: (path, count) =>
      new Promise((resolve) => {
        const look = () => {
          if (to(path).length < count) return;
          waiting.delete(look);
          resolve(to(path));
        };
        waiting.add(look);
        look();
      }),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

export function useReceiver(): Receiver {
  return useStarted("The receiver", startReceiver, (receiver) => receiver.close());
}
