import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Config } from "../../src/config.ts";
import { imageFlags } from "../../src/dev/image-flags.ts";
import { Client } from "./client.ts";
import { compiled } from "./compiled.ts";
import { openOperators, type Operators } from "./operators.ts";
import { environmentOf, newAccount, type TestAccount, testConfig } from "./service.ts";

/** The service as production runs it: compiled, in a child process. With REPLICAS above 1, several processes share a port. */
export interface Processes {
  readonly url: string;
  readonly opsUrl: string;
  readonly config: Config;
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
  level: number;
  msg: string;
  server?: string;
  error?: { message: string };
  request_id?: string;
  trace_id?: string;
  surface?: string;
  verdict?: string;
  window?: number;
  account?: string;
  key_id?: string;
  status?: number;
  /** Why an attempt to send a nudge had no response. */
  reason?: string;
}

export type Settings = Partial<Record<keyof Config, string | number>>;

/** One process of the service, like a container: it has its own ports and ends on SIGTERM. */
export interface Member extends Pick<Processes, "child" | "log" | "logged"> {
  readonly port: number;
  readonly opsPort: number;
  /** Sends the signal and waits for the process to exit. @returns its exit code, or null if the signal killed it. */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null>;
}

/** Starts the service and waits until all its replicas serve. */
export async function spawnService(settings: Settings = {}): Promise<Processes> {
  const config = testConfig(settings);
  const member = await startMember(environmentOf(config));
  const { port, opsPort, child, log, logged } = member;
  // The log is written in batches, so its lines can come later than the message that the service is ready.
  const isServing = ({ msg }: LogLine) => msg === "serving";
  while (log.filter(isServing).length < config.REPLICAS) await logged(isServing);
  const operators = await openOperators(config);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    opsUrl: `http://127.0.0.1:${opsPort}`,
    config,
    child,
    log,
    operators,
    account: () => newAccount(operators, url),
    logged,
    async stop() {
      await member.end("SIGTERM");
      await operators.mongo.db.dropDatabase();
      await operators.close();
    },
  };
}

/** A process of the service that may not serve yet. */
export interface Spawned extends Omit<Member, "port" | "opsPort"> {
  /** Resolves once it serves. @throws with its reason if it exits before that. */
  readonly served: Promise<Member>;
  /** Resolves with the process's standard error once it has exited. */
  readonly complaints: Promise<string>;
}

/**
 * Starts one process of the service, and waits until it serves.
 * @param settings environment variables besides those of this process.
 * @param main the compiled main.js of another version of the service.
 * @throws with its reason if it exits before that.
 */
export async function startMember(settings: NodeJS.ProcessEnv, main?: string): Promise<Member> {
  return (await spawnMember(settings, main)).served;
}

/** Starts one process of the service, which may wait for its servers. */
export async function spawnMember(settings: NodeJS.ProcessEnv, main?: string): Promise<Spawned> {
  const program = main ?? (await compiled("main.ts"));
  const env = { ...process.env, ...settings };
  const child = spawn(process.execPath, [...imageFlags(), program], { env, stdio: ["ignore", "pipe", "pipe", "ipc"] });
  const log: LogLine[] = [];
  const listeners = new Set<(line: LogLine) => void>();
  if (child.stdout === null || child.stderr === null) throw new Error("The service's output is not a pipe.");
  createInterface(child.stdout).on("line", (text) => {
    const line = JSON.parse(text) as LogLine;
    log.push(line);
    for (const listener of listeners) listener(line);
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const gone = once(child, "close");
  const member = {
    child,
    log,
    logged: (fits: (line: LogLine) => boolean) =>
      new Promise<LogLine>((resolve) => {
        const listener = (line: LogLine) => {
          if (!fits(line)) return;
          listeners.delete(listener);
          resolve(line);
        };
        listeners.add(listener);
      }),
    async end(signal: "SIGTERM" | "SIGKILL") {
      if (isRunning(child)) {
        child.kill(signal);
        child.kill("SIGCONT"); // a stopped process would not handle the signal
        await gone;
      }
      return child.exitCode;
    },
  };
  async function served(): Promise<Member> {
    const [first] = (await Promise.race([once(child, "message"), gone])) as [
      { port: number; opsPort: number } | { failed: Error } | number | null,
    ];
    if (typeof first === "object" && first !== null && "port" in first) return { ...first, ...member };
    await gone;
    const reason = typeof first === "object" && first !== null ? first.failed.message : "";
    throw new Error(`The service did not start: ${reason}${errors}`);
  }
  const serving = served();
  serving.catch(() => undefined); // a test may not wait for it
  return { ...member, served: serving, complaints: gone.then(() => errors) };
}

export function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
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
