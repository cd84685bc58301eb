import type { AccountRecord } from "./account.ts";
import type { AccountStore } from "./store.ts";

/** The markers beside the counters, which every replica heeds at its next request (limiter/key-markers.ts). */
export interface Markers {
  markRevoked(accountId: string, keyId: string): Promise<void>;
  markRotated(accountId: string, keyId: string, accountVersion: number): Promise<void>;
  markSuspended(accountId: string): Promise<void>;
  clearSuspended(accountId: string): Promise<void>;
}

/**
 * Tells the limiter what an account's record says, after it was written. Two commands may write in one order and tell in the
 * other, so each looks at the record again once it has told: whoever tells last tells the last record.
 */
export class Announcer {
  readonly #store: Pick<AccountStore, "get">;
  readonly #markers: Markers;

  constructor(store: Pick<AccountStore, "get">, markers: Markers) {
    this.#store = store;
    this.#markers = markers;
  }

  /** After a revocation or a rotation. Two round trips. @throws problem `limiter_unavailable`, `store_unavailable` */
  async keyChanged(account: AccountRecord, keyId: string): Promise<void> {
    await this.#tell(account, async ({ _id, version, keys }) => {
      const key = keys.find(({ id }) => id === keyId);
      // One that an account remembers no more was revoked long ago.
      if (key === undefined || key.revoked_at !== null) await this.#markers.markRevoked(_id, keyId);
      else await this.#markers.markRotated(_id, keyId, version);
    });
  }

  /** After a suspension or its end. Two round trips. @throws as keyChanged does. */
  async statusChanged(account: AccountRecord): Promise<void> {
    await this.#tell(account, async ({ _id, status }) => {
      if (status === "suspended") await this.#markers.markSuspended(_id);
      else await this.#markers.clearSuspended(_id);
    });
  }

  async #tell(written: AccountRecord, tell: (account: AccountRecord) => Promise<void>): Promise<void> {
    for (let account = written, told = 0; account.version !== told; account = await this.#store.get(account._id)) {
      await tell(account);
      told = account.version;
    }
  }
}
