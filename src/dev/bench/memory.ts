import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { Agent, get, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";

/** Time before the first sample of a phase, in milliseconds: caches and pools fill. */
const WARM_UP_MS = 20_000;
const SAMPLE_MS = 1_000;
const LANES = 32;
const IDLE_CONNECTIONS = 10_000;
/** As many are opened at once as a listen backlog surely holds. */
const OPENED_AT_ONCE = 100;
/** Less than the service's keep-alive time, after which it closes an idle connection. In milliseconds. */
const REFRESH_MS = 60_000;

export interface MemoryOptions {
  /** The process of the replica. */
  readonly pid: number;
  /** Where it serves. */
  readonly url: string;
  /** A key of an account with room in its limits. Requests that are refused count as load too. */
  readonly key: string;
  /** How long each of the three phases takes. */
  readonly minutes: number;
}

export interface MemoryPhase {
  readonly phase: "at rest" | "at load" | "10,000 idle connections";
  /** Median resident memory of the first and of the last tenth of the samples, in MiB. */
  readonly firstMiB: number;
  readonly lastMiB: number;
  readonly highestMiB: number;
}

/** Measures the resident memory of a replica in three phases: at rest, at load, and with 10,000 idle connections. Linux only. */
export async function measureMemory({ pid, url, key, minutes }: MemoryOptions): Promise<MemoryPhase[]> {
  const sampled = async (phase: MemoryPhase["phase"]): Promise<MemoryPhase> => {
    await setTimeout(WARM_UP_MS);
    const samples: number[] = [];
    for (const end = Date.now() + minutes * 60_000; Date.now() < end; await setTimeout(SAMPLE_MS))
      samples.push(await residentMiB(pid));
    const tenth = Math.max(1, Math.floor(samples.length / 10));
    return {
      phase,
      firstMiB: median(samples.slice(0, tenth)),
      lastMiB: median(samples.slice(-tenth)),
      highestMiB: Math.max(...samples),
    };
  };
  const phases = [await sampled("at rest")];
  const load = startLoad(url, key);
  phases.push(await sampled("at load"));
  await load.end();
  const idle = await openIdle(url);
  phases.push(await sampled("10,000 idle connections"));
  idle.close();
  return phases;
}

async function residentMiB(pid: number): Promise<number> {
  const [, kib = "0"] = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kib) / 102.4) / 10;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Reads lists and limits in several lanes, each over a connection of its own. */
function startLoad(url: string, key: string): { end(): Promise<void> } {
  const agent = new Agent({ keepAlive: true, maxSockets: LANES });
  let ended = false;
  const lane = async (path: string): Promise<void> => {
    while (!ended) {
      const request = get(`${url}${path}`, { agent, headers: { Authorization: `Bearer ${key}` } });
      const [answer] = (await once(request, "response")) as [IncomingMessage];
      await once(answer.resume(), "end");
    }
  };
  const lanes = Array.from({ length: LANES }, (_, n) => lane(n % 2 === 0 ? "/candidates" : "/limits"));
  return {
    async end() {
      ended = true;
      await Promise.all(lanes);
      agent.destroy();
    },
  };
}

/** Opens connections, and sends a request over each every minute, so that the service does not close them. */
async function openIdle(url: string): Promise<{ close(): void }> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  const ask = (socket: Socket) => socket.write("GET /nothing HTTP/1.1\r\nHost: bench\r\n\r\n");
  while (sockets.length < IDLE_CONNECTIONS - LANES) {
    const opened = Array.from({ length: OPENED_AT_ONCE }, () => connect(Number(port), hostname));
    await Promise.all(opened.map((socket) => once(socket, "connect")));
    for (const socket of opened) socket.on("error", () => undefined).resume();
    for (const socket of opened) ask(socket);
    sockets.push(...opened);
  }
  const refresh = setInterval(() => {
    for (const socket of sockets) ask(socket);
  }, REFRESH_MS);
  return {
    close() {
      clearInterval(refresh);
      for (const socket of sockets) socket.destroy();
    },
  };
}
