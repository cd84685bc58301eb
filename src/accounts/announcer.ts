import type { AccountRecord } from "./account.ts";
import type { AccountStore } from "./store.ts";

/** The markers in Redis, which every replica obeys from its next request on (limiter/key-markers.ts). */
export interface Markers {
  markRevoked(accountId: string, keyId: string): Promise<void>;
  markRotated(accountId: string, keyId: string, accountVersion: number): Promise<void>;
  markSuspended(accountId: string): Promise<void>;
  clearSuspended(accountId: string): Promise<void>;
}

/**
 * Publishes a changed account record to the limiter, by setting markers. Two commands may write in one order and
 * publish in the other. So each command reads the record again after it has published it, and publishes again if the
 * version is newer. The markers then always agree with the newest record.
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
    await this.#publish(account, async ({ _id, version, keys }) => {
      const key = keys.find(({ id }) => id === keyId);
      // An account removes only keys that were revoked, so a missing key is a revoked one.
      if (key === undefined || key.revoked_at !== null) await this.#markers.markRevoked(_id, keyId);
      else await this.#markers.markRotated(_id, keyId, version);
    });
  }

  /** Publishes a suspension or its end. Costs and throws the same as keyChanged. */
  async statusChanged(account: AccountRecord): Promise<void> {
    await this.#publish(account, async ({ _id, status }) => {
      if (status === "suspended") await this.#markers.markSuspended(_id);
      else await this.#markers.clearSuspended(_id);
    });
  }

  async #publish(written: AccountRecord, setMarker: (account: AccountRecord) => Promise<void>): Promise<void> {
    let published = 0; // no record has version 0
    for (let account = written; account.version !== published; account = await this.#store.get(account._id)) {
      await setMarker(account);
      published = account.version;
    }
  }
}
