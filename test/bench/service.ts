import { closeSync, openSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Bench, BenchAccount } from "./bench.ts";
import type { Child } from "./children.ts";
import { requestText } from "./load.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** As it travelled: compressed, if the request asked for it. */
  readonly body: Buffer;
}

/** The service as it ships: compiled, its log written to a file. The limits are too high to be reached. */
export interface Service {
  readonly child: Child;
  readonly port: number;
  readonly account: BenchAccount;
  /** Returns a complete HTTP request with the account's key, for the load generator to send. */
  text(method: string, path: string, headers?: Readonly<Record<string, string>>, body?: string): string;
  /** Sends a request. @throws if its status is not `status`. */
  send(method: string, path: string, given: Given): Promise<Answer>;
}

export interface Given {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

export async function startService(bench: Bench, env: NodeJS.ProcessEnv = {}): Promise<Service> {
  const account = await bench.account(1);
  const child = await startMain(bench, env);
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
      const answer = await exchange(`http://127.0.0.1:${port}${path}`, method, given, body);
      if (answer.status === status) return answer;
      throw new Error(`${method} ${path} answered ${answer.status}: ${answer.body.toString("utf8", 0, 300)}`);
    },
  };
}

/** Starts the process. Resolves when it says that it is ready. */
export async function startMain(
  { children, redisUrl, mongodbUrl, folder }: Bench,
  env: NodeJS.ProcessEnv,
): Promise<Child> {
  const settings = {
    HOST: "127.0.0.1",
    PORT: "0",
    OPS_PORT: "0",
    REDIS_URL: redisUrl,
    MONGODB_URL: mongodbUrl,
    LIMIT_SCALE: "1000000",
    LIMIT_WINDOW_SECONDS: "86400",
    LIMITER_TIMEOUT_MS: "1000",
    STORE_TIMEOUT_MS: "20000",
  };
  const log = openSync(join(folder, "service.log"), "a");
  try {
    return await children.start("src/main", { env: { ...settings, ...env }, stdout: log });
  } finally {
    closeSync(log);
  }
}

function exchange(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer | undefined,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "Content-Length": Buffer.byteLength(body) };
    const sent = request(url, { method, headers: { ...headers, ...length } }, (response) => {
      buffer(response).then(
        (read) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: read }),
        reject,
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
