import { problem } from "../problems.ts";

/** One secret of a key, as its SHA-256. `expires_at` is set when a rotation gave it an end. */
export interface SecretRecord {
  readonly hash: string;
  readonly created_at: string;
  readonly expires_at: string | null;
}

/** A key: its id and its counters stay while its secrets are rotated; the newest secret comes last. */
export interface KeyRecord {
  readonly id: string;
  readonly name: string;
  readonly secrets: readonly SecretRecord[];
  readonly created_at: string;
  readonly revoked_at: string | null;
}

/** The account with its keys, the aggregate: what holds for it as a whole (the cap) is decided on one document. */
export interface AccountRecord {
  readonly _id: string;
  readonly name: string;
  readonly status: "active" | "suspended";
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly keys: readonly KeyRecord[];
}

/** Revoked keys that an account remembers, newest first; older ones answer as unknown. Keeps the document small for ever. */
const REMEMBERED_REVOKED = 100;
/** Secrets a key holds at most: rotating faster than graces end lets the oldest go early. */
const MAX_SECRETS = 10;

/** A new account, active and without keys. `now` is a timestamp, as in every function here. */
export function newAccount(id: string, name: string, now: string): AccountRecord {
  return { _id: id, name, status: "active", version: 1, created_at: now, updated_at: now, keys: [] };
}

/** The account with one more key. @throws problem `active_key_cap_reached` when it has `cap` active ones. */
export function withKey(account: AccountRecord, key: KeyRecord, cap: number): AccountRecord {
  if (activeKeys(account).length >= cap) {
    throw problem(
      "active_key_cap_reached",
      `The account has ${cap} active keys, the most it may have. Revoke one first.`,
    );
  }
  return { ...account, keys: [...account.keys, key] };
}

/** The account with that key revoked; the same account where it is so already. @throws problem `not_found` */
export function withKeyRevoked(account: AccountRecord, keyId: string, now: string): AccountRecord {
  if (findKey(account, keyId).revoked_at !== null) return account;
  const keys = account.keys.map((key) => (key.id === keyId ? { ...key, revoked_at: now } : key));
  return { ...account, keys: withoutOldest(keys) };
}

/**
 * The account with a new secret for that key. Every older one ends at `graceEnds`, or when an earlier rotation said, if that
 * is sooner; those that have ended go. @throws problem `not_found`, or `invalid_transition` for a revoked key.
 */
export function withKeyRotated(
  account: AccountRecord,
  keyId: string,
  secret: SecretRecord,
  graceEnds: string,
): AccountRecord {
  const rotated = findKey(account, keyId);
  if (rotated.revoked_at !== null) {
    throw problem("invalid_transition", `The key ${keyId} is revoked and stays so. Create another.`);
  }
  const older = rotated.secrets
    .filter((old) => !hasEnded(old, secret.created_at))
    .map((old) => ({
      ...old,
      expires_at: old.expires_at !== null && old.expires_at < graceEnds ? old.expires_at : graceEnds,
    }));
  const secrets = [...older, secret].slice(-MAX_SECRETS);
  return { ...account, keys: account.keys.map((key) => (key.id === keyId ? { ...key, secrets } : key)) };
}

/** The account suspended or resumed; the same account where it is so already. */
export function withStatus(account: AccountRecord, status: AccountRecord["status"]): AccountRecord {
  return account.status === status ? account : { ...account, status };
}

/** The keys that count towards the cap: those that are not revoked. */
export function activeKeys(account: AccountRecord): readonly KeyRecord[] {
  return account.keys.filter((key) => key.revoked_at === null);
}

/** The key of the account with that id. @throws problem `not_found` */
export function findKey(account: AccountRecord, keyId: string): KeyRecord {
  const key = account.keys.find(({ id }) => id === keyId);
  if (key === undefined) throw problem("not_found", `No key has the id ${keyId}.`);
  return key;
}

/** Whether the secret's grace is over. Timestamps have one form, so their text sorts as the time does. */
export function hasEnded(secret: SecretRecord, now: string): boolean {
  return secret.expires_at !== null && secret.expires_at <= now;
}

function withoutOldest(keys: readonly KeyRecord[]): readonly KeyRecord[] {
  const revoked = keys.flatMap((key) => key.revoked_at ?? []).toSorted();
  const since = revoked.at(-REMEMBERED_REVOKED) ?? "";
  return keys.filter((key) => key.revoked_at === null || key.revoked_at >= since);
}
