import { randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { connect as connectTls } from "node:tls";
import type { Redis } from "ioredis";
import type { Target } from "./alternate.ts";
import type { Bench } from "./bench.ts";
import type { Row } from "./report.ts";

/** What the service sends to Redis on its own every few seconds: its checks of health. */
const BACKGROUND = new Set(["ping", "info"]);
/** What else the service sends on its own now and then is less than this for each request. */
const OWN = 0.005;
/** A line of MONITOR: who sent the command, its name, and its first argument if that needs no escaping. */
const COMMAND = /^\+[\d.]+ \[\d+ (?<source>[^\]]+)\] "(?<name>[^"]*)"(?: "(?<argument>[^"\\]*)")?/;

interface Counting {
  readonly connections: number;
  readonly count?: number;
  readonly exactly: number;
  readonly settle?: number;
}

/**
 * Counts what requests to a server send to Redis. Counting takes time of Redis, so nothing may be measured meanwhile.
 * @param exactly how many commands of each request meet the bound.
 * @param settle seconds of load that is not counted, before that which is.
 */
export async function commandsRow(
  { redis, generator }: Pick<Bench, "redis" | "generator">,
  what: string,
  { port, requests }: Pick<Target, "port" | "requests">,
  { connections, count = 2000, exactly, settle = 0 }: Counting,
): Promise<Row> {
  const sent = await generator.connected(port, connections, async (load) => {
    await load({ requests, seconds: settle });
    return commandsSent(redis, () => load({ requests, seconds: 60, count }));
  });
  const perRequest = [...sent.values()].reduce((sum, calls) => sum + calls, 0) / count;
  const names = [...sent].map(([name, calls]) => `${calls} ${name}`).join(", ");
  return {
    what,
    bound: `exactly ${exactly}`,
    measured: `${perRequest.toFixed(3)}${names === "" ? "" : ` (${names})`}`,
    verdict: Math.abs(perRequest - exactly) < OWN ? "met" : "not met",
  };
}

/**
 * Counts by name the commands that clients send to Redis while `work` runs. What scripts run inside Redis is left out: INFO
 * counts both together, MONITOR tells them apart.
 */
export async function commandsSent(redis: Redis, work: () => Promise<unknown>): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const marker = randomUUID();
  const { socket, asked } = monitor(redis);
  try {
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    for (let answers = 0; answers < asked; answers++) {
      const { value } = (await lines.next()) as { value?: string };
      if (value !== "+OK") throw new Error(`Redis refused to MONITOR: ${value ?? "it closed the connection"}`);
    }
    await work();
    await redis.echo(marker);
    for await (const line of lines) {
      const { source, name = "", argument } = COMMAND.exec(line)?.groups ?? {};
      if (argument === marker) return counts;
      const command = name.toLowerCase();
      if (source !== "lua" && !BACKGROUND.has(command)) counts.set(command, (counts.get(command) ?? 0) + 1);
    }
    throw new Error("Redis closed the connection that MONITORs it.");
  } finally {
    socket.destroy();
  }
}

/**
 * Opens a connection and asks for MONITOR. Redis answers "OK" `asked` times, then sends a line for every command. ioredis has
 * monitor(), which fails if the first line arrives together with the answer.
 */
function monitor({ options }: Redis): { socket: Socket; asked: number } {
  const { host = "127.0.0.1", port = 6379, username, password, tls } = options;
  const socket = tls === undefined ? connect({ host, port }) : connectTls({ host, port, ...tls });
  socket.on("error", () => undefined); // its lines end then
  const commands = [["MONITOR"]];
  if (password) commands.unshift(["AUTH", ...(username ? [username] : []), password]);
  for (const words of commands) socket.write(commandText(words));
  return { socket, asked: commands.length };
}

/** Writes a command out, in RESP. */
function commandText(words: readonly string[]): string {
  return [`*${words.length}`, ...words.flatMap((word) => [`$${Buffer.byteLength(word)}`, word]), ""].join("\r\n");
}
