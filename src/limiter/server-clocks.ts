import { followRedis, PROMPT_MS, type SharedClock } from "../infra/clock.ts";
import type { RedisClient } from "../infra/redis.ts";
import { serverOf } from "../infra/redis-connections.ts";

/** A time that is past on every clock, in milliseconds since the epoch. A charge with this deadline is always stale. */
const OVER_MS = 1;
/** In a cluster: minimum time between two questions for the time of the master that the service's clock follows. */
const FOLLOW_EVERY_MS = 1_000;

/** The servers' clocks, from their last replies and a monotonic timer. In a cluster the masters' may be seconds apart. */
export class ServerClocks {
  readonly #redis: RedisClient;
  readonly #clock: SharedClock;
  /** The clock of each server minus `performance.now()`, in milliseconds. */
  readonly #offsets = new Map<string, number>();
  #askedAt = -Infinity;

  /** @param clock is set to Redis's clock by the replies; in a cluster, to that of one master. */
  constructor(redis: RedisClient, clock: SharedClock) {
    this.#redis = redis;
    this.#clock = clock;
  }

  /**
   * Returns what the clock of the account's server shows at that time of `performance.now()`, in whole milliseconds;
   * never more. If a master of a cluster has not replied yet, returns a time that is over: its reply, `stale`, tells
   * its clock.
   */
  timeAt(at: number, accountId: string): number {
    const offset = this.#offsets.get(serverOf(this.#redis, accountId));
    if (offset !== undefined) return Math.floor(offset + at);
    return this.#redis.isCluster ? OVER_MS : Math.floor(this.#clock.redis.now() - performance.now() + at);
  }

  /** Notes the clock that a reply shows. The times are those of `performance.now()`. */
  note(nowMs: number, { accountId, sentAt, received }: { accountId: string; sentAt: number; received: number }): void {
    // Look the server up again: if the slot has moved, the reply came from its new master.
    this.#offsets.set(serverOf(this.#redis, accountId), nowMs - received);
    if (this.#redis.isCluster) this.#follow(received);
    else if (received < sentAt + PROMPT_MS) this.#clock.follow(nowMs - received);
  }

  /** Asks the master that the service's clock follows, in the background. If it fails, a later one does not. */
  #follow(now: number): void {
    if (now < this.#askedAt + FOLLOW_EVERY_MS) return;
    this.#askedAt = now;
    void followRedis(this.#clock, this.#redis, PROMPT_MS).catch(() => undefined);
  }
}
