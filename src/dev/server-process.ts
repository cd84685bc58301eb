import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { dirname } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { SetupError, say } from "./output.ts";
import { type ServerRecord, isAlive } from "./servers-file.ts";

/** How to run one kind of server, whatever it is. */
export interface ServerSpec {
  /** As people know it. */
  readonly name: string;
  readonly command: string;
  args(port: number): string[];
  url(port: number): string;
  /** File that takes the server's output. */
  readonly log: string;
  /** Asks the server at `url` for its own process id; rejects when it does not answer within a few seconds. */
  askPid(url: string): Promise<number>;
}

/** A server that is ready. `stop` lets it finish, and resolves when it is gone. */
export interface Server extends ServerRecord {
  stop(): Promise<void>;
}

/** A server that this process started. `exited` resolves when it is gone, wanted or not. */
export interface OwnServer extends Server {
  readonly port: number;
  readonly exited: Promise<unknown>;
}

export interface LaunchOptions {
  /** Port on 127.0.0.1; without one, any that is free. */
  port?: number;
  /** In a process group of its own, so that Ctrl-C at the terminal does not reach it. */
  detached?: boolean;
  /** Called as soon as there is a process to end, before it is ready. */
  onSpawn?: (record: ServerRecord) => void;
  signal?: AbortSignal;
}

const POLL_MS = 25;
const SLOW_START_MS = 5_000;
const STOP_MS = 10_000;
const PORT_ATTEMPTS = 3;

/**
 * Starts a server on 127.0.0.1 and waits, however long it recovers its data, until it answers.
 * @throws {SetupError} with the last line of its log when it stops instead; the signal's reason when that aborts.
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
      // Between finding a port free and the server taking it, another process may have taken it.
      const lostPort = options.port === undefined && (await isListening(port));
      if (!lostPort || attempt === PORT_ATTEMPTS) throw error;
    }
  }
}

/**
 * Takes over a server that an earlier process started and left behind: its process lives and is the one that answers.
 * @returns undefined when it does not run any more.
 * @throws {SetupError} when something listens there but does not answer: to start a second server on its data would ruin it.
 */
export async function adopt(
  name: string,
  { url, pid }: ServerRecord,
  askPid: ServerSpec["askPid"],
): Promise<Server | undefined> {
  const port = Number(new URL(url).port);
  // It may have been left behind while it was still starting.
  for (
    const deadline = performance.now() + SLOW_START_MS;
    isAlive(pid) && performance.now() < deadline;
    await wait(POLL_MS)
  ) {
    if (!(await isListening(port))) continue;
    const answering = await askPid(url).catch(() => {
      throw new SetupError(`${name} from an earlier start (process ${pid}) does not answer. End it, then start again.`);
    });
    return answering === pid ? { url, pid, stop: () => end(pid, untilGone(pid)) } : undefined;
  }
  return undefined;
}

function begin(spec: ServerSpec, port: number, { detached = false }: LaunchOptions): OwnServer {
  mkdirSync(dirname(spec.log), { recursive: true });
  const log = openSync(spec.log, "a");
  const child: ChildProcess = spawn(spec.command, spec.args(port), { detached, stdio: ["ignore", log, log] });
  closeSync(log);
  const exited = once(child, "exit").catch(() => undefined); // an error: it could not even be started
  const { pid } = child;
  if (pid === undefined) throw new SetupError(`${spec.name} could not be started from ${spec.command}.`);
  return { url: spec.url(port), port, pid, exited, stop: () => end(pid, exited) };
}

async function untilReady(
  spec: ServerSpec,
  { url, port, pid, exited }: OwnServer,
  signal?: AbortSignal,
): Promise<void> {
  const gone = new AbortController();
  void exited.then(() => gone.abort());
  const slow = setTimeout(() => say(`Still waiting for ${spec.name}; its log is ${spec.log}`), SLOW_START_MS);
  try {
    while (!(await isListening(port)) && !gone.signal.aborted) {
      await Promise.race([exited, wait(POLL_MS, undefined, { signal })]);
    }
    if (!gone.signal.aborted && (await Promise.race([exited, spec.askPid(url)])) === pid) return;
    throw new SetupError(`${spec.name} did not start: ${lastLine(spec.log)} Its log is ${spec.log}`);
  } finally {
    clearTimeout(slow);
  }
}

async function end(pid: number, exited: Promise<unknown>): Promise<void> {
  if (!isAlive(pid)) return;
  process.kill(pid, "SIGTERM");
  process.kill(pid, "SIGCONT"); // a paused process would not see it
  await Promise.race([exited, wait(STOP_MS, undefined, { ref: false })]);
  if (isAlive(pid)) process.kill(pid, "SIGKILL");
  await exited;
}

/** Only its parent is told when a process ends; others have to look. */
async function untilGone(pid: number): Promise<void> {
  while (isAlive(pid)) await wait(POLL_MS);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("a TCP server has no port");
  return address.port;
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const listening = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return listening;
}

function lastLine(file: string): string {
  return readFileSync(file, "utf8").trimEnd().split("\n").at(-1) ?? "";
}
