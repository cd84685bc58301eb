import type { Caller } from "../accounts/caller.ts";
import type { Surface } from "./surfaces.ts";

/**
 * The names of the limiter's keys in Redis. All keys of an account are in the hash slot of `{accountId}`, so one script
 * call reaches them on a cluster. Ids contain no braces.
 */
export const redisKeys = {
  ledger: (accountId: string) => `{${accountId}}:ledger`,
  // Version 0.1.0 had grants of creates only, so their name has no surface.
  grants: ({ accountId, keyId }: Caller, surface: Surface) =>
    `{${accountId}}:grants:${keyId}${surface === "create" ? "" : `:${surface}`}`,
};

/**
 * The fields of a ledger besides `window` and `version` (lua/charge.lua). No surface has one of these two names. A key's id
 * is stored without `key_`, which saves 128 bytes for an account with two keys.
 */
export const ledgerFields = {
  account: (surface: Surface) => surface,
  key: (keyId: string, surface: Surface) => `${surface}:${withoutPrefix(keyId)}`,
};

const KEY_PREFIX = "key_";

function withoutPrefix(keyId: string): string {
  return keyId.startsWith(KEY_PREFIX) ? keyId.slice(KEY_PREFIX.length) : keyId;
}
