import { invalid, problem } from "../problems.ts";

/** One secret of a key, kept as its SHA-256. A rotation sets `expires_at`; it is null until then. */
export interface SecretRecord {
  readonly hash: string;
  /** First twelve characters of the secret. Secrets from before 0.2.0 have none. */
  readonly prefix?: string;
  readonly created_at: string;
  readonly expires_at: string | null;
}

/** A key. A rotation changes its secrets, but not its id or its counters. The newest secret comes last. */
export interface KeyRecord {
  readonly id: string;
  readonly name: string;
  readonly secrets: readonly SecretRecord[];
  readonly created_at: string;
  readonly revoked_at: string | null;
}

/** An account with its keys, in one document, so that a rule about all of them (the cap) is checked in one write. */
export interface AccountRecord {
  readonly _id: string;
  readonly name: string;
  readonly note?: string;
  /** `erased`: only this tombstone is left, without name, note and keys. */
  readonly status: "active" | "suspended" | "erased";
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
  readonly keys: readonly KeyRecord[];
}

/** An account keeps this many revoked keys, the latest ones, to bound its document. Older ones count as unknown. */
const MAX_REVOKED_KEPT = 100;
/** A key keeps this many secrets. If it is rotated faster than graces end, the oldest secret is removed before its end. */
const MAX_SECRETS = 10;

const MAX_NAME_LENGTH = 200;

/** Returns a new account, active and without keys. `now` is a timestamp, as in every function here. */
export function newAccount(id: string, name: string, now: string): AccountRecord {
  return { _id: id, name, status: "active", version: 1, created_at: now, updated_at: now, keys: [] };
}

/** Returns the account with the key added. @throws problem `active_key_cap_reached` if it already has `cap` active keys. */
export function withKey(account: AccountRecord, key: KeyRecord, cap: number): AccountRecord {
  const detail = `The account has reached its maximum of ${cap} active keys. Revoke one first.`;
  if (activeKeys(account).length >= cap) throw problem("active_key_cap_reached", detail);
  return { ...account, keys: [...account.keys, key] };
}

/** Returns the account with that key revoked, or the same object if it already was. @throws problem `not_found` */
export function withKeyRevoked(account: AccountRecord, keyId: string, now: string): AccountRecord {
  if (findKey(account, keyId).revoked_at !== null) return account;
  const keys = account.keys.map((key) => (key.id === keyId ? { ...key, revoked_at: now } : key));
  const revocations = keys.flatMap((key) => key.revoked_at ?? []).toSorted();
  const since = revocations.at(-MAX_REVOKED_KEPT) ?? "";
  return { ...account, keys: keys.filter((key) => key.revoked_at === null || key.revoked_at >= since) };
}

/**
 * Returns the account with a new secret for that key. The older secrets expire at `graceEnds`, unless an earlier
 * rotation set a sooner end. Expired secrets are removed.
 * @throws problem `not_found`, or `invalid_transition` for a revoked key.
 */
export function withKeyRotated(account: AccountRecord, keyId: string, secret: SecretRecord, graceEnds: string) {
  const rotated = findKey(account, keyId);
  if (rotated.revoked_at !== null)
    throw problem("invalid_transition", `The key ${keyId} is revoked and cannot be rotated. Create a new key.`);
  const endOf = ({ expires_at: end }: SecretRecord) => (end !== null && end < graceEnds ? end : graceEnds);
  const valid = rotated.secrets.filter((old) => !hasExpired(old, secret.created_at));
  const older = valid.map((old) => ({ ...old, expires_at: endOf(old) }));
  const secrets = [...older, secret].slice(-MAX_SECRETS);
  return { ...account, keys: account.keys.map((key) => (key.id === keyId ? { ...key, secrets } : key)) };
}

/** Returns the account with that status, or the same object if it already has it. */
export function withStatus(account: AccountRecord, status: AccountRecord["status"]): AccountRecord {
  return account.status === status ? account : { ...account, status };
}

/** Returns what remains of an erased account. @throws problem `invalid_transition` for an active one: it was resumed meanwhile. */
export function withoutContents({ note: _note, ...account }: AccountRecord): AccountRecord {
  const detail = `${account._id} was resumed meanwhile. To erase it, run the same command again.`;
  if (account.status === "active") throw problem("invalid_transition", detail);
  return { ...account, name: "", status: "erased", keys: [] };
}

/** Returns the keys that are not revoked. They count towards the cap. */
export function activeKeys(account: AccountRecord): readonly KeyRecord[] {
  return account.keys.filter((key) => key.revoked_at === null);
}

/** Returns the account's key with that id. @throws problem `not_found` */
export function findKey(account: AccountRecord, keyId: string): KeyRecord {
  const key = account.keys.find(({ id }) => id === keyId);
  if (key === undefined) throw problem("not_found", `No key has the id ${keyId}.`);
  return key;
}

/** Returns true if the secret has expired. All timestamps have one format, so comparing their text compares the times. */
export function hasExpired(secret: SecretRecord, now: string): boolean {
  return secret.expires_at !== null && secret.expires_at <= now;
}

/** Returns a name or note. @throws problem `validation_failed` if it does not have 1 to 200 characters, or is blank. */
export function checkedName(name: string, pointer = "/name"): string {
  const { length } = Array.from(name); // characters, not UTF-16 units
  if (name.trim() !== "" && length <= MAX_NAME_LENGTH) return name;
  throw invalid(pointer, name.trim() === "" ? "must not be blank" : `must have at most ${MAX_NAME_LENGTH} characters`);
}
