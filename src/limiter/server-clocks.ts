import { followRedis, PROMPT_MS, type SharedClock } from "../infra/clock.ts";
import type { RedisClient } from "../infra/redis.ts";
import { serverOf } from "../infra/redis-connections.ts";

/** A time that is past on every clock, in milliseconds since the epoch. A charge with this deadline is always stale. */
const OVER_MS = 1;
/** In a cluster: minimum time between two questions for the time of the master that the service's clock follows. */
const FOLLOW_EVERY_MS = 1_000;

type ReplyTimes = Readonly<{ sentAt: number; received: number }> & { readonly accountId: string };

/**
 * The servers' clocks, known from their last replies and this process's monotonic timer. In a cluster the masters' clocks may
 * be seconds apart.
 * @param clock is set to Redis's clock by the replies; in a cluster, to that of one master.
 */
export function serverClocks(redis: RedisClient, clock: SharedClock) {
  /** The clock of each server minus `performance.now()`, in milliseconds. */
  const offsets = new Map<string, number>();
  let askedAt = -Infinity;

  /**
   * Returns what the clock of the account's server shows at that time of `performance.now()`, in whole milliseconds;
   * never more. If a master of a cluster has not replied yet, returns a time that is over: its reply, `stale`, tells
   * its clock.
   */
  function timeAt(at: number, accountId: string): number {
    const offset = offsets.get(serverOf(redis, accountId));
    if (offset !== undefined) return Math.floor(offset + at);
    return redis.isCluster ? OVER_MS : Math.floor(clock.redis.now() - performance.now() + at);
  }

  /** Notes the clock that a reply shows. The times are those of `performance.now()`. */
  function note(nowMs: number, { accountId, sentAt, received }: ReplyTimes): void {
    // Look the server up again: if the slot has moved, the reply came from its new master.
    offsets.set(serverOf(redis, accountId), nowMs - received);
    if (redis.isCluster) follow(received);
    else if (received < sentAt + PROMPT_MS) clock.follow(nowMs - received);
  }

  /** Asks the master that the service's clock follows, in the background. If it fails, a later one does not. */
  function follow(now: number): void {
    if (now < askedAt + FOLLOW_EVERY_MS) return;
    askedAt = now;
    void followRedis(clock, redis, PROMPT_MS).catch(() => undefined);
  }

  return { timeAt, note };
}
