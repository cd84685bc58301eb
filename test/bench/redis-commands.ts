import { randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { connect as connectTls } from "node:tls";
import type { Redis } from "ioredis";

/** What the service sends to Redis on its own every few seconds: its checks of health. */
const BACKGROUND = new Set(["ping", "info"]);
/** A line of MONITOR: who sent the command, its name, and its first argument if that needs no escaping. */
const COMMAND = /^\+[\d.]+ \[\d+ (?<source>[^\]]+)\] "(?<name>[^"]*)"(?: "(?<argument>[^"\\]*)")?/;

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
