import type { Cluster, Redis } from "ioredis";
import { TimeLimit } from "./time-limit.ts";

const SLOTS = 16_384;
/** Every replica of the service takes the time from the master of this slot. */
const CLOCK_SLOT = 0;

/** Returns the name of the server for this hash tag: in a cluster the address of the slot's master, as the client knows it. */
export function serverOf(redis: Redis | Cluster, tag: string): string {
  return redis.isCluster ? masterOf(redis as Cluster, crc16(tag) % SLOTS) : "the only one";
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

/** CRC-16 as in the specification of Redis Cluster: XMODEM, polynomial 0x1021, over the bytes of the text in UTF-8. */
function crc16(text: string): number {
  let crc = 0;
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc;
}

/**
 * Closes a connection once its server has sent nothing for `ms` milliseconds while a reply is due. ioredis then rejects
 * what waits for a reply, and reconnects. Time in which this process stood still does not count.
 */
export function closeIfSilent(redis: Redis, ms: number): void {
  redis.on("connect", () => {
    const { stream } = redis;
    let silence: TimeLimit | undefined;
    const expect = (): void => {
      silence ??= new TimeLimit(ms, () => stream.destroy(new Error(`Redis sent nothing for ${ms} ms`)));
    };
    expect(); // the handshake was sent already
    const write = stream.write.bind(stream) as (...data: unknown[]) => boolean;
    stream.write = (...data: unknown[]): boolean => {
      expect();
      return write(...data);
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

/**
 * Makes a connection send all commands of one turn of the event loop in one write. It saves a system call for each, and half
 * of Redis's work for a decision, because Redis reads and answers them together. ioredis's own autopipelining is not used:
 * after an error it may send a command again.
 */
export function writeTogether(redis: Redis): void {
  redis.on("connect", () => join(redis.stream));
}

function join(stream: Redis["stream"]): void {
  const write = stream.write.bind(stream) as (data: unknown, ...more: unknown[]) => boolean;
  let waiting = "";
  const flush = (): void => {
    const commands = waiting;
    waiting = "";
    // If the connection has closed since, ioredis has rejected the commands. They were not sent.
    if (commands !== "" && stream.writable) write(commands);
  };
  stream.write = (data: unknown, ...more: unknown[]): boolean => {
    if (typeof data !== "string" || more.length > 0) {
      flush();
      return write(data, ...more);
    }
    if (waiting === "") process.nextTick(flush);
    waiting += data;
    return !stream.writableNeedDrain;
  };
}
