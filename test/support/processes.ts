import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Config } from "../../src/config.ts";
import { Client } from "./client.ts";
import { compiled } from "./compiled.ts";
import { openOperators, type Operators } from "./operators.ts";
import { environmentOf, newAccount, type TestAccount, testConfig } from "./service.ts";

/** The service as production runs it: compiled, in a child process. With REPLICAS above 1, several processes share a port. */
export interface Processes {
  readonly url: string;
  readonly opsUrl: string;
  readonly child: ChildProcess;
  /** Every line that any of the processes logged, parsed. */
  readonly log: LogLine[];
  readonly operators: Operators;
  /** Creates an account with one key, and a client that uses the key. */
  account(): Promise<TestAccount>;
  /** Resolves with the next log line for which `fits` returns true. */
  logged(fits: (line: LogLine) => boolean): Promise<LogLine>;
  stop(): Promise<void>;
}

export interface LogLine {
  pid: number;
  msg: string;
  request_id?: string;
  trace_id?: string;
  surface?: string;
  verdict?: string;
  window?: number;
  account?: string;
  key_id?: string;
  status?: number;
}

export type Settings = Partial<Record<keyof Config, string | number>>;

/** Starts the service and waits until all its replicas serve. */
export async function spawnService(settings: Settings = {}): Promise<Processes> {
  const config = testConfig(settings);
  const env = {
    ...process.env,
    ...environmentOf(config),
  };
  const child = spawn(process.execPath, [await compiled("main.ts")], { env, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const log: LogLine[] = [];
  const listeners = new Set<(line: LogLine) => void>();
  if (child.stdout === null || child.stderr === null) throw new Error("The service's output must be a pipe.");
  createInterface(child.stdout).on("line", (text) => {
    const line = JSON.parse(text) as LogLine;
    log.push(line);
    for (const listener of listeners) listener(line);
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const logged = (fits: (line: LogLine) => boolean) =>
    new Promise<LogLine>((resolve) => {
      const listener = (line: LogLine) => {
        if (!fits(line)) return;
        listeners.delete(listener);
        resolve(line);
      };
      listeners.add(listener);
    });
  const { port, opsPort } = await untilReady(child, () => stderr);
  // The log is written in batches, so its lines can come later than the message that the service is ready.
  const isServing = ({ msg }: LogLine) => msg === "serving";
  while (log.filter(isServing).length < config.REPLICAS) await logged(isServing);
  const operators = await openOperators(config);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    opsUrl: `http://127.0.0.1:${opsPort}`,
    child,
    log,
    operators,
    account: () => newAccount(operators, url),
    logged,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const gone = once(child, "exit");
        child.kill("SIGTERM");
        await gone;
      }
      await operators.mongo.db.dropDatabase();
      await operators.close();
    },
  };
}

async function untilReady(child: ChildProcess, stderr: () => string): Promise<{ port: number; opsPort: number }> {
  const abandoned = new AbortController();
  const { signal } = abandoned;
  const ready = once(child, "message", { signal }).then(([message]) => message as { port: number; opsPort: number });
  const gone = once(child, "exit", { signal }).then(() => {
    throw new Error(`The service did not start: ${stderr()}`);
  });
  try {
    return await Promise.race([ready, gone]);
  } finally {
    abandoned.abort();
    await Promise.allSettled([ready, gone]);
  }
}

/** Creates an account with `count` keys, and a client for each key. */
export async function accountWithKeys(
  { operators, url }: Pick<Processes, "operators" | "url">,
  count: number,
): Promise<{ id: string; keys: { id: string; client: Client }[] }> {
  const { id } = await operators.accounts.createAccount({ name: "Test" });
  const keys = [];
  for (let n = 0; n < count; n++) {
    const made = await operators.accounts.createKey({ accountId: id, name: `key ${n}` });
    keys.push({ id: made.id, client: new Client(url, made.key) });
  }
  return { id, keys };
}
