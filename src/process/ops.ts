import { createServer, type Server, type ServerResponse } from "node:http";
import type { System } from "../compose.ts";

/** The server for operators, without keys: /livez is 200 while the process runs, /readyz while it can serve. */
export function opsServer({ draining, faults }: Pick<System, "draining" | "faults">): Server {
  return createServer((req, res) => void answerOps(req.url ?? "", res, draining.started, faults));
}

async function answerOps(
  url: string,
  res: ServerResponse,
  draining: boolean,
  faultsOf: () => Promise<string[]>,
): Promise<void> {
  const path = url.split("?")[0];
  if (path !== "/livez" && path !== "/readyz") return void res.writeHead(404).end();
  const faults = path === "/livez" ? [] : draining ? ["draining"] : await faultsOf();
  res.writeHead(faults.length === 0 ? 200 : 503, { "Content-Type": "application/json", "Cache-Control": "no-store" });
  res.end(JSON.stringify({ ok: faults.length === 0, faults }));
}
