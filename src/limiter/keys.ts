import type { Caller } from "../accounts/caller.ts";
import type { Surface } from "./surfaces.ts";

/**
 * The names of the limits' keys in Redis. All of an account's lie in the hash slot of `{accountId}`, so one script call
 * reaches them on a cluster; ids hold no braces.
 */
export const keys = {
  accountCounter: (accountId: string, surface: Surface) => `{${accountId}}:${surface}`,
  keyCounter: ({ accountId, keyId }: Caller, surface: Surface) => `{${accountId}}:${surface}:${keyId}`,
  accountStanding: (accountId: string) => `{${accountId}}:standing`,
  keyStanding: ({ accountId, keyId }: Caller) => `{${accountId}}:standing:${keyId}`,
  grants: ({ accountId, keyId }: Caller) => `{${accountId}}:grants:${keyId}`,
};
