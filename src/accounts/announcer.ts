import type { AccountRecord } from "./account.ts";
import type { AccountStore } from "./store.ts";

/**
 * The markers in Redis, which every replica obeys from its next request on (limiter/key-markers.ts). Each method returns
 * false if Redis knows a newer record. `restored` sets the marker all the same.
 */
export interface Markers {
  markRevoked(accountId: string, keyId: string): Promise<boolean>;
  markRotated(accountId: string, keyId: string, accountVersion: number, restored: boolean): Promise<boolean>;
  markStatus(
    accountId: string,
    status: AccountRecord["status"],
    accountVersion: number,
    restored: boolean,
  ): Promise<boolean>;
}

/**
 * Publishes a changed account record to the limiter, by setting markers. Two commands may write in one order and
 * publish in the other. Redis ignores the older record, as long as it remembers the newer one. It may have lost it. So
 * each command also reads the record again after it has published it, and publishes again if the version is newer. The
 * markers then always agree with the newest record.
 */
export class Announcer {
  readonly #store: Pick<AccountStore, "get">;
  readonly #markers: Markers;

  constructor(store: Pick<AccountStore, "get">, markers: Markers) {
    this.#store = store;
    this.#markers = markers;
  }

  /**
   * Publishes a revocation or a rotation. Two round trips, and two more for each concurrent change.
   * @throws problem `limiter_unavailable`, `store_unavailable`
   */
  async keyChanged(account: AccountRecord, keyId: string): Promise<void> {
    await this.#publish(account, ({ _id, version, keys }, restored) => {
      const key = keys.find(({ id }) => id === keyId);
      // An account removes only keys that were revoked, so a missing key is a revoked one.
      if (key === undefined || key.revoked_at !== null) return this.#markers.markRevoked(_id, keyId);
      return this.#markers.markRotated(_id, keyId, version, restored);
    });
  }

  /** Publishes a suspension or its end. Costs and throws the same as keyChanged. */
  async statusChanged(account: AccountRecord): Promise<void> {
    await this.#publish(account, ({ _id, status, version }, restored) =>
      this.#markers.markStatus(_id, status, version, restored),
    );
  }

  async #publish(
    written: AccountRecord,
    setMarker: (account: AccountRecord, restored: boolean) => Promise<boolean>,
  ): Promise<void> {
    let tried = 0; // no record has version 0
    let done = false;
    for (let account = written; !done || account.version !== tried; account = await this.#store.get(account._id)) {
      // A record is in the store before Redis learns of it. So if Redis knows a newer one and the store does not have it,
      // the store was restored from a backup.
      const restored = account.version === tried;
      done = (await setMarker(account, restored)) || restored;
      tried = account.version;
    }
  }
}
