import { once } from "node:events";
import { type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Proxy {
  readonly url: string;
  close(): void;
}

/** Starts a server on a free port. */
export async function listen(server: Server): Promise<Proxy> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * Sends a request on to the service at `target`, and its response back.
 * @param takes returns true if it has answered in place of that response.
 */
export function forward(
  target: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  takes = (_answer: IncomingMessage) => false,
): void {
  const { method, url = "/", headers } = incoming;
  const forwarded = request(target + url, { method, headers }, (answer) => {
    if (takes(answer)) return;
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  forwarded.on("error", () => outgoing.destroy());
  incoming.pipe(forwarded);
}
