import { createServer, type Server, type ServerResponse } from "node:http";
import { listen } from "./listen.ts";

export interface OpsSource {
  /** Returns why this process cannot serve, one text per fault; empty if it can. */
  faults(): Promise<string[]>;
  metrics(): Promise<string>;
}

/** prom-client writes this version of the text format. */
const TEXT_FORMAT = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Starts the server for operators, without keys. /livez is 200 while the process runs, /readyz while it can serve, and
 * /metrics is for Prometheus. No answer waits for Redis or MongoDB, except that of /readyz.
 * @throws if the port is taken.
 */
export async function serveOps(
  source: OpsSource,
  port: number,
  host: string,
): Promise<{ port: number; close(): void }> {
  const server: Server = createServer((req, res) => {
    answer(source, req.url ?? "", res).catch((error: unknown) => {
      res.writeHead(500, { "Content-Type": "text/plain" }).end(String(error));
    });
  });
  return {
    port: await listen(server, port, host),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function answer(source: OpsSource, url: string, res: ServerResponse): Promise<void> {
  const path = url.split("?")[0];
  if (path === "/livez") answerFaults(res, []);
  else if (path === "/readyz") answerFaults(res, await source.faults());
  else if (path === "/metrics") answerMetrics(res, await source.metrics());
  else res.writeHead(404).end();
}

function answerMetrics(res: ServerResponse, metrics: string): void {
  res.writeHead(200, { "Content-Type": TEXT_FORMAT }).end(metrics);
}

function answerFaults(res: ServerResponse, faults: readonly string[]): void {
  res.writeHead(faults.length === 0 ? 200 : 503, { "Content-Type": "application/json", "Cache-Control": "no-store" });
  res.end(JSON.stringify({ ok: faults.length === 0, faults }));
}
