import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";

/**
 * Starts a proxy that passes one request at a time to a service, and takes `ms` for each. So it bears 1000 / `ms` a second.
 * @param fails chooses, by path, the requests that get 500.
 */
export async function startSlow(
  target: string,
  ms: number,
  fails = (_path: string) => false,
): Promise<{ url: string; close(): void }> {
  let last: Promise<unknown> = Promise.resolve();
  const server = createServer((incoming, outgoing) => {
    last = last.then(() => setTimeout(ms));
    void last.then(() => {
      const { method, url = "/", headers } = incoming;
      if (fails(url)) {
        outgoing.writeHead(500, { "X-Request-Id": "req_1" }).end();
        return;
      }
      const forwarded = request(target + url, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      forwarded.on("error", () => outgoing.destroy());
      incoming.pipe(forwarded);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
