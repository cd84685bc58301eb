import type { Caller } from "../accounts/caller.ts";
import type { Surface } from "./surfaces.ts";

/**
 * The names of the limiter's keys in Redis. All keys of an account are in the hash slot of `{accountId}`, so one script
 * call reaches them on a cluster. Ids contain no braces.
 */
export const redisKeys = {
  accountCounter: (accountId: string, surface: Surface) => `{${accountId}}:${surface}`,
  keyCounter: ({ accountId, keyId }: Caller, surface: Surface) => `{${accountId}}:${surface}:${keyId}`,
  accountMarker: (accountId: string) => `{${accountId}}:standing`,
  publishedVersion: (accountId: string) => `{${accountId}}:standing-version`,
  keyMarker: ({ accountId, keyId }: Caller) => `{${accountId}}:standing:${keyId}`,
  // Version 0.1.0 had grants of creates only, so their name has no surface.
  grants: ({ accountId, keyId }: Caller, surface: Surface) =>
    `{${accountId}}:grants:${keyId}${surface === "create" ? "" : `:${surface}`}`,
};
