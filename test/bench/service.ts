import { join } from "node:path";
import { request } from "undici";
import type { Bench, BenchAccount } from "./bench.ts";
import type { Child } from "./children.ts";
import { requestText } from "./load.ts";

/** The service as it ships: compiled, its log written to a file. The limits are too high to be reached. */
export interface Service {
  readonly child: Child;
  readonly port: number;
  readonly account: BenchAccount;
  /** Returns a complete HTTP request with the account's key, for the load generator to send. */
  text(method: string, path: string, headers?: Readonly<Record<string, string>>, body?: string): string;
  /** Sends a request. @returns the response, its body as it travelled. @throws if its status is not `status`. */
  send(
    method: string,
    path: string,
    given: { status: number; headers?: Readonly<Record<string, string>>; body?: string },
  ): Promise<{ headers: Readonly<Record<string, string | string[] | undefined>>; body: Buffer }>;
}

/** @param settings more environment variables. */
export async function startService(bench: Bench, settings: NodeJS.ProcessEnv = {}): Promise<Service> {
  const account = await bench.account(1);
  const child = await startMain(bench, settings);
  const { port } = child.ready;
  const authorization = { Authorization: `Bearer ${account.keys[0] ?? ""}` };
  const json = { "Content-Type": "application/json" };
  return {
    child,
    port,
    account,
    text: (method, path, headers = {}, body = "") =>
      requestText(method, path, { ...authorization, ...(body !== "" && json), ...headers }, body),
    async send(method, path, { status, headers, body }) {
      const given = { ...authorization, ...(body !== undefined && json), ...headers };
      const answer = await request(`http://127.0.0.1:${port}${path}`, { method, headers: given, body: body ?? null });
      const read = Buffer.from(await answer.body.arrayBuffer());
      if (answer.statusCode === status) return { headers: answer.headers, body: read };
      throw new Error(`${method} ${path} answered ${answer.statusCode}: ${read.toString("utf8", 0, 300)}`);
    },
  };
}

/** Starts the process. Resolves when it says that it is ready. @param settings more environment variables. */
export function startMain(
  { children, redisUrl, mongodbUrl, folder }: Bench,
  settings: NodeJS.ProcessEnv = {},
): Promise<Child> {
  const env = {
    HOST: "127.0.0.1",
    PORT: "0",
    OPS_PORT: "0",
    REDIS_URL: redisUrl,
    MONGODB_URL: mongodbUrl,
    LIMIT_SCALE: "1000000",
    LIMIT_WINDOW_SECONDS: "86400",
    LIMITER_TIMEOUT_MS: "1000",
    STORE_TIMEOUT_MS: "20000",
    ...settings,
  };
  return children.start("src/main", { env, log: join(folder, "service.log") });
}
