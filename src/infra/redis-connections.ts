import calculateSlot from "cluster-key-slot";
import type { Cluster, Redis } from "ioredis";
import { TimeLimit } from "./time-limit.ts";

/** Every replica of the service takes the time from the master of this slot. */
const CLOCK_SLOT = 0;

/** Returns the name of the server for this hash tag: in a cluster the address of the slot's master, as the client knows it. */
export function serverOf(redis: Redis | Cluster, tag: string): string {
  return redis.isCluster ? masterOf(redis as Cluster, calculateSlot(tag)) : "the only one";
}

/** Calls `tend` with every connection of a client, also with later ones. A client of a cluster has one for each node. */
export function forEachConnection(redis: Redis | Cluster, tend: (connection: Redis) => void): void {
  if (!redis.isCluster) return tend(redis as Redis);
  const cluster = redis as Cluster;
  cluster.nodes("all").forEach(tend);
  cluster.on("+node", tend);
}

/** Returns the time of the server whose clock the service follows, in milliseconds, with a fraction. One round trip. */
export async function clockTime(redis: Redis | Cluster): Promise<number> {
  const [seconds, microseconds] = await clockServer(redis).time();
  return Number(seconds) * 1000 + Number(microseconds) / 1000;
}

/** A cluster has as many clocks as masters. The service follows one of them, so that its own clock never jumps between them. */
function clockServer(redis: Redis | Cluster): Redis | Cluster {
  if (!redis.isCluster) return redis;
  const cluster = redis as Cluster;
  const address = masterOf(cluster, CLOCK_SLOT);
  const nameOf = ({ options }: Redis) => `${options.host}:${options.port}`;
  return cluster.nodes("master").find((node) => nameOf(node) === address) ?? redis;
}

function masterOf(cluster: Cluster, slot: number): string {
  return cluster.slots[slot]?.[0] ?? "unknown";
}

/**
 * Replaces the way a connection sends commands:
 * - All commands of one turn of the event loop leave in one write. It saves a system call for each, and half of Redis's work
 *   for a decision, because Redis reads and handles them together. ioredis's own autopipelining is not used: after an error
 *   it may send a command again.
 * - If the server has sent nothing for `silenceMs` milliseconds while a reply is due, the connection is closed. ioredis then
 *   rejects what waits for a reply, and reconnects. Time in which this process stood still does not count.
 */
export function tendStream(redis: Redis, silenceMs: number): void {
  redis.on("connect", () => {
    const { stream } = redis;
    const write = stream.write.bind(stream) as (data: unknown, ...more: unknown[]) => boolean;
    let waiting = "";
    const flush = (): void => {
      const commands = waiting;
      waiting = "";
      // If the connection has closed since, ioredis has rejected the commands. They were not sent.
      if (commands !== "" && stream.writable) write(commands);
    };
    let silence: TimeLimit | undefined;
    const expectReply = (): void => {
      const close = () => stream.destroy(new Error(`Redis sent nothing for ${silenceMs} ms`));
      silence ??= new TimeLimit(silenceMs, close);
    };
    expectReply(); // the handshake was sent already
    stream.write = (data: unknown, ...more: unknown[]): boolean => {
      expectReply();
      if (typeof data !== "string" || more.length > 0) {
        flush();
        return write(data, ...more);
      }
      if (waiting === "") process.nextTick(flush);
      waiting += data;
      return !stream.writableNeedDrain;
    };
    // After ioredis's own listener, so that the commands whose replies have come have left the queue.
    stream.on("data", () => {
      if (redis.commandQueue.length > 0) return silence?.restart();
      silence?.clear();
      silence = undefined;
    });
    stream.once("close", () => silence?.clear());
  });
}
