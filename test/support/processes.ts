import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Config } from "../../src/config.ts";
import { Client } from "./client.ts";
import { compiled } from "./compiled.ts";
import { openOperators, type Operators } from "./operators.ts";
import { newAccount, type TestAccount, testConfig } from "./service.ts";

/** The service as production runs it: compiled, in processes of their own, one or several that share a port. */
export interface Processes {
  readonly url: string;
  readonly opsUrl: string;
  readonly child: ChildProcess;
  /** Every line logged by any of the processes, parsed. */
  readonly log: LogLine[];
  readonly operators: Operators;
  /** A new account with one key, and a client that uses it. */
  account(): Promise<TestAccount>;
  /** Resolves with the next log line that fits. */
  logged(fits: (line: LogLine) => boolean): Promise<LogLine>;
  stop(): Promise<void>;
}

export interface LogLine {
  pid: number;
  msg: string;
  surface?: string;
  verdict?: string;
  window?: number;
  account?: string;
  key_id?: string;
  status?: number;
}

export type Settings = Partial<Record<keyof Config, string | number>>;

/** Starts it and waits until all its replicas serve. */
export async function spawnService(settings: Settings = {}): Promise<Processes> {
  const config = testConfig(settings);
  const env = {
    ...process.env,
    ...Object.fromEntries(Object.entries(config).map(([name, value]) => [name, String(value)])),
  };
  const child = spawn(process.execPath, [await compiled("main.ts")], { env, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const log: LogLine[] = [];
  const waiting = new Set<(line: LogLine) => void>();
  if (child.stdout === null || child.stderr === null) throw new Error("The service's output is a pipe.");
  createInterface(child.stdout).on("line", (text) => {
    const line = JSON.parse(text) as LogLine;
    log.push(line);
    for (const tell of waiting) tell(line);
  });
  let complaints = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaints += text));
  const { port, opsPort } = await readyOf(child, () => complaints);
  const operators = await openOperators(config);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    opsUrl: `http://127.0.0.1:${opsPort}`,
    child,
    log,
    operators,
    account: () => newAccount(operators, url),
    logged: (fits) =>
      new Promise((resolve) => {
        const tell = (line: LogLine) => {
          if (!fits(line)) return;
          waiting.delete(tell);
          resolve(line);
        };
        waiting.add(tell);
      }),
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

async function readyOf(child: ChildProcess, complaints: () => string): Promise<{ port: number; opsPort: number }> {
  const abandoned = new AbortController();
  const { signal } = abandoned;
  const ready = once(child, "message", { signal }).then(([message]) => message as { port: number; opsPort: number });
  const gone = once(child, "exit", { signal }).then(() => {
    throw new Error(`The service did not start: ${complaints()}`);
  });
  try {
    return await Promise.race([ready, gone]);
  } finally {
    abandoned.abort();
    await Promise.allSettled([ready, gone]);
  }
}

/** An account with so many keys, and a client for each. */
export async function accountWithKeys(
  { operators, url }: Processes,
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
