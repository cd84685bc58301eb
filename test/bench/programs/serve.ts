import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** What a measured server is told, as JSON in its first argument. */
export interface ServerSettings {
  readonly name: string;
  readonly redisUrl: string;
  readonly mongodbUrl: string;
  /** Requests in a window: of the account, and of each of its keys. The account's is twice the key's. */
  readonly accountLimit: number;
  readonly keyLimit: number;
  readonly windowSeconds: number;
  /** Begins the names of the server's counters in Redis. */
  readonly prefix: string;
}

/** The name of a server of ours that asks Redis for every refusal. */
export const DECIDES_ALL = "ours-decides-all";

/** What every contender answers to an admitted request. */
export const NOTHING = { object: "nothing" } as const;

export function readSettings(): ServerSettings {
  return JSON.parse(process.argv[2] ?? "") as ServerSettings;
}

/** Serves on a free port of 127.0.0.1 and tells the bench which. Exits when the bench is gone. */
export async function serve(listener: RequestListener): Promise<void> {
  const server = createServer({ keepAliveTimeout: 75_000 }, listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  process.on("disconnect", () => process.exit());
  process.send?.({ type: "ready", port: (server.address() as AddressInfo).port });
}
