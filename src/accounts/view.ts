import { type AccountRecord, activeKeys, type KeyRecord } from "./account.ts";

export type AccountView = ReturnType<typeof viewAccount>;
export type KeyView = ReturnType<typeof viewKey>;

/** A key that was just created or rotated, with its secret. The secret is never shown again. */
export interface NewKeyView extends KeyView {
  key: string;
  /** Set if the key was rotated but the limiter could not be updated. */
  warning?: string;
}

export type ListView<T> = { object: "list"; data: T[] };

export function viewAccount(account: AccountRecord) {
  const { _id: id, name, note = null, status, created_at, updated_at } = account;
  const active_keys = activeKeys(account).length;
  return { object: "account", id, name, note, status, active_keys, created_at, updated_at } as const;
}

/** Returns a key as operators see it, without its secrets and their hashes. */
export function viewKey(accountId: string, key: KeyRecord, lastUsed: string | null = null) {
  return {
    object: "api_key",
    id: key.id,
    account_id: accountId,
    name: key.name,
    /** First twelve characters of the newest secret. Null if a release before 0.2.0 made it. */
    prefix: key.secrets.at(-1)?.prefix ?? null,
    status: key.revoked_at === null ? "active" : "revoked",
    created_at: key.created_at,
    /** Creation time of the newest secret. Later than `created_at` if the key was rotated. */
    secret_created_at: key.secrets.at(-1)?.created_at ?? null,
    /** Expiry time of the secret before the newest one; null if there is none. */
    previous_secret_expires_at: key.secrets.at(-2)?.expires_at ?? null,
    /** Time of the last use, up to a minute late. Null if the key was never used. */
    last_used_at: lastUsed,
    revoked_at: key.revoked_at,
  } as const;
}
