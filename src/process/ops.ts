import { createServer, type ServerResponse } from "node:http";
import { prometheusContentType } from "prom-client";
import { listen } from "./listen.ts";

export interface OpsSource {
  /** Returns why this process cannot respond to requests, one text per fault. If deep, also which servers do not respond. */
  faults(deep: boolean): Promise<string[]>;
  metrics(): Promise<string>;
}

/**
 * Starts the server for operators, without keys. /livez is 200 while the process runs, /readyz while it responds to
 * requests, be it with 503, and /readyz?deep=1 while Redis and MongoDB respond as well. /metrics is for Prometheus.
 * @throws if the port is taken.
 */
export async function serveOps(source: OpsSource, port: number, host: string) {
  const server = createServer((req, res) => {
    respond(source, req.url ?? "", res).catch((error: unknown) => {
      res.writeHead(500, { "Content-Type": "text/plain" }).end(String(error));
    });
  });
  return {
    port: await listen(server, port, host),
    close(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function respond(source: OpsSource, url: string, res: ServerResponse): Promise<void> {
  const [path, query] = url.split("?");
  if (path === "/livez") sendFaults(res, []);
  else if (path === "/readyz") sendFaults(res, await source.faults(new URLSearchParams(query).get("deep") === "1"));
  else if (path === "/metrics") res.setHeader("Content-Type", prometheusContentType).end(await source.metrics());
  else res.writeHead(404).end();
}

function sendFaults(res: ServerResponse, faults: readonly string[]): void {
  res.writeHead(faults.length === 0 ? 200 : 503, { "Content-Type": "application/json", "Cache-Control": "no-store" });
  res.end(JSON.stringify({ ok: faults.length === 0, faults }));
}
