import { problem } from "../problems.ts";
import type { AccountRecord } from "./account.ts";
import type { AccountStore } from "./store.ts";

/** Each command that comes in between costs one try. In a Cluster whose clocks are minutes apart, every try is too late. */
const MAX_TRIES = 8;

/** The end of the problem's text if Redis knows a newer version than the store. */
export const IF_RESTORED = "If MongoDB was restored from a backup, run `admin accounts announce`.";

/** The versions of accounts in Redis, which every replica obeys from its next request on (limiter/account-versions.ts). */
export interface Versions {
  /** Redis's clock, in milliseconds. */
  now(): Promise<number>;
  /**
   * Raises the version; lowers it if it is `over`, 0 for none. Ignored if the record was not read soon after `begunMs`.
   * @returns the version that Redis knows now; 0 if it was ignored.
   */
  raise(accountId: string, read: { version: number; begunMs: number; over: number }): Promise<number>;
}

/**
 * Announces that an account was changed: from then on every replica looks the account's keys up again. If two commands write
 * in one order and announce in the other, Redis keeps the newer version, whose record has both changes. If a command announces
 * minutes after its read, Redis ignores it, and the command reads the record again.
 */
export class Announcer {
  readonly #store: Pick<AccountStore, "get">;
  readonly #versions: Versions;

  constructor(store: Pick<AccountStore, "get">, versions: Versions) {
    this.#store = store;
    this.#versions = versions;
  }

  /**
   * Call it once the store has the change. Three round trips; more if another command comes in between. Never lowers a version.
   * @throws problem `limiter_unavailable`, also if Redis knows a newer version than the store; `store_unavailable`.
   */
  changed(account: Pick<AccountRecord, "_id">): Promise<void> {
    return this.#raise(account, false);
  }

  /**
   * Announces a record that may come from a backup: if Redis knows a version that the store has lost, lowers it. Only
   * `admin accounts announce` does this. Throws what `changed` throws.
   */
  announce(account: Pick<AccountRecord, "_id">): Promise<void> {
    return this.#raise(account, true);
  }

  async #raise({ _id: accountId }: Pick<AccountRecord, "_id">, mayLower: boolean): Promise<void> {
    let known = 0;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const begunMs = await this.#versions.now();
      const { version } = await this.#store.get(accountId);
      // A record is in the store before Redis learns of it. So if Redis knows a newer one and the store does not have it
      // at the next read, the store was restored from a backup. Then the newer one gives way.
      known = await this.#versions.raise(accountId, { version, begunMs, over: mayLower ? known : 0 });
      if (known === version) return;
    }
    const detail =
      known === 0
        ? `Redis ignored the version of ${accountId}. Check that the clocks of its masters agree.`
        : `Redis knows a newer version of ${accountId} than MongoDB. ${IF_RESTORED}`;
    throw problem("limiter_unavailable", detail, { headers: { "Retry-After": "2" } });
  }
}
