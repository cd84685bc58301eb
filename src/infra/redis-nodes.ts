import type { Cluster, Redis } from "ioredis";
import type { RedisClient } from "./redis.ts";

const SLOTS = 16_384;
/** Every replica of the service takes the time from the master of this slot. */
const CLOCK_SLOT = 0;

/**
 * Returns the name of the server for this hash tag: in a cluster the address of the slot's master, as far as the client
 * knows; otherwise always the same. No round trip.
 */
export function serverOf(redis: RedisClient, tag: string): string {
  return redis.isCluster ? masterOf(redis as Cluster, crc16(tag) % SLOTS) : "the only one";
}

/** Returns the time of the server whose clock the service follows. One round trip. */
export function clockTime(redis: RedisClient): Promise<(string | number)[]> {
  return clockServer(redis).time();
}

/** A cluster has as many clocks as masters. The service follows one of them, so that its own clock never jumps between them. */
function clockServer(redis: RedisClient): RedisClient {
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
