import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { listen } from "../process/listen.ts";
import { createPrivateFolder } from "./data-dir.ts";
import { SetupError, say } from "./output.ts";
import { type ServerRecord, isAlive } from "./servers-file.ts";

export interface ServerSpec {
  readonly name: string;
  readonly command: string;
  args(port: number): string[];
  url(port: number): string;
  /** File that the server's output is appended to. */
  readonly log: string;
  /** Asks the server at `url` for its process id. Rejects if it does not respond within a few seconds. */
  readonly askPid: (url: string) => Promise<number>;
}

/** A server that this process started. `exited` resolves when it is gone, whether it was stopped or crashed. */
export type OwnServer = ReturnType<typeof begin>;

export interface LaunchOptions {
  /** Port on 127.0.0.1; any free port by default. */
  port?: number;
  /** Starts it in its own process group, so that Ctrl-C at the terminal does not reach it. */
  detached?: boolean;
  /** Called before the server is ready. */
  onSpawn?: (record: ServerRecord) => void;
  signal?: AbortSignal;
}

const POLL_MS = 25;
const SLOW_START_MS = 5_000;
const STOP_TIMEOUT_MS = 10_000;
const MAX_PORT_ATTEMPTS = 3;

/**
 * Starts a server on 127.0.0.1 and waits until it responds. There is no time limit: recovering its data may take long.
 * @throws {SetupError} with the last line of its log if it exits instead; the signal's reason if the signal aborts.
 */
export async function launch(spec: ServerSpec, options: LaunchOptions = {}): Promise<OwnServer> {
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort());
    const server = begin(spec, port, options);
    options.onSpawn?.({ url: server.url, pid: server.pid });
    try {
      await untilReady(spec, server, options.signal);
      return server;
    } catch (error) {
      await server.stop();
      // Another process may have taken the port after freePort() found it.
      const lostPort = options.port === undefined && (await isListening(port));
      if (!lostPort || attempt === MAX_PORT_ATTEMPTS) throw error;
    }
  }
}

/**
 * Finds a server that an earlier process left running. Its process must be alive and must be the one that responds.
 * @returns undefined if it no longer runs.
 * @throws {SetupError} if something listens on its port but does not respond: a second server would corrupt its data.
 */
export async function adopt(name: string, { url, pid }: ServerRecord, askPid: ServerSpec["askPid"]) {
  const port = Number(new URL(url).port);
  // The server may have been left behind while it was still starting, so give it time to listen.
  for (const deadline = performance.now() + SLOW_START_MS; performance.now() < deadline; await wait(POLL_MS)) {
    if (!isAlive(pid)) return undefined;
    if (!(await isListening(port))) continue;
    const silent = `${name} from an earlier start (process ${pid}) does not answer. Kill it, then start again.`;
    const responding = await askPid(url).catch(() => Promise.reject(new SetupError(silent)));
    return responding === pid ? { url, pid, stop: () => end(pid) } : undefined;
  }
  return undefined;
}

function begin(spec: ServerSpec, port: number, { detached = false }: LaunchOptions) {
  createPrivateFolder(dirname(spec.log));
  const umask = process.umask(0o077); // the server's files, and its log, are for their owner alone
  const log = openSync(spec.log, "a");
  const child: ChildProcess = spawn(spec.command, spec.args(port), { detached, stdio: ["ignore", log, log] });
  closeSync(log);
  process.umask(umask);
  const exited = once(child, "exit").catch(() => undefined); // it rejects if the program could not be started
  const { pid } = child;
  if (pid === undefined) throw new SetupError(`${spec.name} could not be started from ${spec.command}.`);
  return { url: spec.url(port), port, pid, exited, stop: () => end(pid) };
}

async function untilReady(spec: ServerSpec, { url, port, pid, exited }: OwnServer, signal?: AbortSignal) {
  const slow = setTimeout(() => say(`Still waiting for ${spec.name}; its log is ${spec.log}`), SLOW_START_MS);
  try {
    while (isAlive(pid)) {
      // A busy machine may delay even a server that listens. If it does not respond in time, ask it again.
      const responding = (await isListening(port)) ? await spec.askPid(url).catch(() => undefined) : undefined;
      if (responding === pid) return;
      if (responding !== undefined) break; // another process has the port
      await Promise.race([exited, wait(POLL_MS, undefined, { signal })]);
    }
    const lastLine = readFileSync(spec.log, "utf8").trimEnd().split("\n").at(-1) ?? "";
    throw new SetupError(`${spec.name} did not start: ${lastLine} Its log is ${spec.log}`);
  } finally {
    clearTimeout(slow);
  }
}

/**
 * Sends SIGTERM, then SIGKILL after 10 seconds, and resolves when the process is gone. Polls for that, because only a parent
 * is notified of a process's exit.
 */
async function end(pid: number): Promise<void> {
  if (!isAlive(pid)) return;
  process.kill(pid, "SIGTERM");
  process.kill(pid, "SIGCONT"); // a paused process handles SIGTERM only once it continues
  const deadline = performance.now() + STOP_TIMEOUT_MS;
  while (isAlive(pid)) {
    if (performance.now() > deadline) process.kill(pid, "SIGKILL");
    await wait(POLL_MS);
  }
}

/** Returns a port that was free a moment ago; any for 0. @throws EADDRINUSE if another process listens on it. */
export async function freePort(port = 0, host = "127.0.0.1"): Promise<number> {
  const server = createServer();
  const free = await listen(server, port, host);
  server.close();
  await once(server, "close");
  return free;
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const connected = await once(socket, "connect").catch(() => undefined);
  socket.destroy();
  return connected !== undefined;
}
