import { createServer } from "node:http";
import { setTimeout } from "node:timers/promises";
import { forward, listen, type Proxy } from "./proxy.ts";

/**
 * Starts a proxy that passes one request at a time to a service, and takes `ms` for each. So it bears 1000 / `ms` a second.
 * @param fails chooses, by path, the requests that get 500.
 */
export async function startSlow(target: string, ms: number, fails = (_path: string) => false): Promise<Proxy> {
  let last: Promise<unknown> = Promise.resolve();
  return listen(
    createServer((incoming, outgoing) => {
      last = last.then(() => setTimeout(ms));
      void last.then(() => {
        if (fails(incoming.url ?? "/")) outgoing.writeHead(500, { "X-Request-Id": "req_1" }).end();
        else forward(target, incoming, outgoing);
      });
    }),
  );
}
