import type { Caller } from "./caller.ts";
import { type Refusal, refusal } from "../problems.ts";

/** WWW-Authenticate of every 401 (RFC 6750, 3). */
const CHALLENGE = 'Bearer realm="candidate-onboarding"';
const INVALID_TOKEN = { headers: { "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"` } };

/** The request has no key. `detail` must not repeat what the client sent: it may be a key in the wrong place. */
export function keyMissing(detail: string): Refusal {
  return refusal("api_key_missing", detail, { headers: { "WWW-Authenticate": CHALLENGE } });
}

/** The key of the request may not be used. `about` is its owner, if it has one, for the log. */
export function keyInvalid(reason: "malformed" | "two_keys" | "unknown" | "replaced", detail: string, about?: Caller) {
  return refusal("api_key_invalid", detail, { ...INVALID_TOKEN, reason, ...(about && { about }) });
}

export function keyRevoked(about: Caller): Refusal {
  const detail = "The API key was revoked. Use another key, or ask for a new one.";
  return refusal("api_key_revoked", detail, { ...INVALID_TOKEN, about });
}

/** The key was rotated, and the grace of the secret that was sent is over. */
export function keyReplaced(about?: Caller): Refusal {
  return keyInvalid("replaced", "The API key was replaced by a new one and has expired. Use the new key.", about);
}

/** Names the owner of the key for the log. */
export function accountSuspended({ accountId, keyId }: Caller): Refusal {
  const about = { accountId, keyId };
  return refusal("account_suspended", "The account is suspended. Contact support to have it resumed.", { about });
}

/** The account was changed again and again while the key was looked up. */
export function keyOutdated(): Refusal {
  const detail = "The account of the API key is being changed. Try again in a second.";
  return refusal("store_unavailable", detail, { headers: { "Retry-After": "1" } });
}
