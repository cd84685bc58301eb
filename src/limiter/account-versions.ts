import { clockTime } from "../infra/redis-nodes.ts";
import type { RedisClient } from "../infra/redis.ts";
import { answerOf, limiterUnavailable } from "./outage.ts";
import { raiseVersion } from "./scripts.ts";

/**
 * Redis keeps a version at least this long, in milliseconds. It must outlive every look-up that read an older one, and a
 * look-up has LOOK_UP_MS, by a clock that may be minutes apart from that of one master of a cluster.
 */
const LIFETIME_MS = 15 * 60_000;
/** A version that comes to Redis later than this after the look-up of its record began is ignored, in milliseconds. */
const LOOK_UP_MS = 5 * 60_000;

/**
 * The versions of the accounts' records, beside the counters in Redis. lua/charge.lua compares them with the version in which
 * a replica looked a key up: if Redis knows a newer one, or none, the replica must look the key up again. So a key may be
 * cached without a time limit. A version is only ever raised (lua/raise-version.lua); only `admin accounts announce` lowers one.
 *
 * Write the record in the store first: it is authoritative. Once `raise` returns, every replica looks the account's keys up
 * again before it admits a request.
 */
export class AccountVersions {
  readonly #redis: RedisClient;

  constructor(redis: RedisClient) {
    this.#redis = redis;
  }

  /** Returns Redis's clock, in milliseconds. One round trip. @throws problem `limiter_unavailable` */
  async now(): Promise<number> {
    try {
      const [seconds, micros] = await clockTime(this.#redis);
      return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    } catch (error) {
      throw limiterUnavailable(error);
    }
  }

  /**
   * Announces a changed record. Idempotent. One round trip.
   * @param read the version of the record, when it was about to be read (`now`), and a version that gives way to it, 0 for
   * none: an operator announces a store that was restored from a backup, so its records have lower versions.
   * @returns the version that Redis knows now: higher than `version` if another command has overtaken this one; 0 if the
   * record was read too long ago, so that nothing was changed.
   * @throws problem `limiter_unavailable`
   */
  async raise(accountId: string, read: Read & { readonly over: number }): Promise<number> {
    try {
      return await this.#send(accountId, read);
    } catch (error) {
      throw limiterUnavailable(error);
    }
  }

  /**
   * Tells Redis the version that a look-up has found. One round trip.
   * @param begunMs when the look-up began, by Redis's clock, in milliseconds.
   * @returns whether Redis took the version in, or knows it or a newer one already.
   * @throws problem `limiter_unavailable` within `timeoutMs`.
   */
  async lookedUp(accountId: string, { timeoutMs, ...read }: Read & { readonly timeoutMs: number }): Promise<boolean> {
    return (await answerOf(() => this.#send(accountId, { ...read, over: 0 }), timeoutMs)) > 0;
  }

  #send(accountId: string, { version, begunMs, over }: Read & { readonly over: number }): Promise<number> {
    const deadlineMs = begunMs + LOOK_UP_MS;
    return raiseVersion(this.#redis, accountId, { version, lifetimeMs: LIFETIME_MS, deadlineMs, over });
  }
}

interface Read {
  readonly version: number;
  /** When the look-up began, by Redis's clock, in milliseconds. */
  readonly begunMs: number;
}
