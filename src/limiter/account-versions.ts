import { clockTime } from "../infra/redis-connections.ts";
import type { RedisClient } from "../infra/redis.ts";
import { replyTo, replyWithin } from "./observer.ts";
import { raiseVersion } from "./scripts.ts";

/**
 * Minimum time that Redis keeps a version, in milliseconds. It must outlive every lookup that read an older one, and a
 * lookup has LOOKUP_MS, by a clock that may be minutes apart from that of one master of a cluster.
 */
const LIFETIME_MS = 15 * 60_000;
/** Maximum time from the begin of a lookup until Redis ignores its version, in milliseconds. */
const LOOKUP_MS = 5 * 60_000;

/** A version of an account's record. */
interface Read {
  readonly version: number;
  /** Begin of the lookup, by Redis's clock, in milliseconds. */
  readonly begunMs: number;
}

/**
 * The versions of the accounts' records, in Redis. lua/charge.lua compares them with the version in which a replica looked a
 * key up: if Redis knows a newer one, or none, the replica must look the key up again. Only `admin accounts announce` lowers
 * a version. Write the record in the store first. Once `raise` returns, every replica looks the account's keys up again
 * before it admits a request. Each method takes one round trip and throws problem `limiter_unavailable`.
 */
export class AccountVersions {
  readonly #redis: RedisClient;

  constructor(redis: RedisClient) {
    this.#redis = redis;
  }

  /** Returns Redis's clock, in milliseconds. */
  async now(): Promise<number> {
    return Math.floor(await replyTo(clockTime(this.#redis)));
  }

  /**
   * Announces a changed record. Idempotent.
   * @param read `over`: a version that gives way to this one, 0 for none.
   * @returns the version that Redis knows now: higher than `version` if another command has overtaken this one; 0 if the
   * record was read too long ago, so that nothing was changed.
   */
  raise(accountId: string, read: Read & { readonly over: number }): Promise<number> {
    return replyTo(this.#send(accountId, read));
  }

  /**
   * Tells Redis the version that a lookup has found. Fails within `timeoutMs`.
   * @returns true if Redis knows this version or a newer one now.
   */
  async lookedUp(accountId: string, { timeoutMs, ...read }: Read & { readonly timeoutMs: number }): Promise<boolean> {
    return (await replyWithin(timeoutMs, () => this.#send(accountId, { ...read, over: 0 }))) > 0;
  }

  #send(accountId: string, { version, begunMs, over }: Read & { readonly over: number }): Promise<number> {
    const deadlineMs = begunMs + LOOKUP_MS;
    return raiseVersion(this.#redis, accountId, { version, lifetimeMs: LIFETIME_MS, deadlineMs, over });
  }
}
