import { problem } from "../problems.ts";
import type { AccountRecord } from "./account.ts";
import type { AccountStore } from "./store.ts";

/** More than commands that come in between can cost. In a Cluster whose clocks are minutes apart, every try is too late. */
const MAX_TRIES = 8;

/** The versions of accounts in Redis, which every replica obeys from its next request on (limiter/account-versions.ts). */
export interface Versions {
  /** Redis's clock, in milliseconds. */
  now(): Promise<number>;
  /**
   * Raises the version; lowers it if it is `over`. Ignored if the record was not read soon after `begunMs`.
   * @returns the version that Redis knows now; 0 if it was ignored.
   */
  raise(accountId: string, read: { version: number; begunMs: number; over: number }): Promise<number>;
}

/**
 * Announces that an account was changed: from then on every replica looks the account's keys up again. Two commands may write
 * in one order and announce in the other. Redis keeps the newer version, and the newer record has both changes. If a command
 * was stopped for minutes before its announcement, Redis ignores it, and the command reads the record again.
 */
export class Announcer {
  readonly #store: Pick<AccountStore, "get">;
  readonly #versions: Versions;

  constructor(store: Pick<AccountStore, "get">, versions: Versions) {
    this.#store = store;
    this.#versions = versions;
  }

  /**
   * Call it once the store has the change. Three round trips; more if another command comes in between, or if the store was
   * restored from a backup.
   * @throws problem `limiter_unavailable`, `store_unavailable`
   */
  async changed({ _id: accountId }: Pick<AccountRecord, "_id">): Promise<void> {
    for (let over = 0, tries = 0; tries < MAX_TRIES; tries++) {
      const begunMs = await this.#versions.now();
      const { version } = await this.#store.get(accountId);
      const known = await this.#versions.raise(accountId, { version, begunMs, over });
      if (known === version) return;
      // A record is in the store before Redis learns of it. So if Redis knows a newer one and the store does not have it
      // at the next read, the store was restored from a backup. Then the newer one gives way.
      over = known;
    }
    const detail = `Redis ignored the version of ${accountId}. Check that the clocks of its masters agree.`;
    throw problem("limiter_unavailable", detail, { headers: { "Retry-After": "2" } });
  }
}
