import type { Caller } from "./caller.ts";
import { type Problem, problem } from "../problems.ts";

/** WWW-Authenticate of every 401 (RFC 6750, 3). If the request has a key, `error="invalid_token"` is added. */
const CHALLENGE = 'Bearer realm="candidate-onboarding"';

/** The request has no key. `detail` must not repeat what the client sent: it may be a key in the wrong place. */
export function keyMissing(detail: string): Problem {
  return problem("api_key_missing", detail, { headers: { "WWW-Authenticate": CHALLENGE } });
}

/** The key of the request is malformed, unknown or replaced. */
export function keyInvalid(detail: string): Problem {
  return problem("api_key_invalid", detail, { headers: { "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"` } });
}

export function keyRevoked(): Problem {
  return problem("api_key_revoked", "The API key was revoked. Use another key, or ask for a new one.", {
    headers: { "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"` },
  });
}

/** The key was rotated, and the grace of the secret that was sent is over. */
export function keyReplaced(): Problem {
  return keyInvalid("The API key was replaced by a new one and has expired. Use the new key.");
}

/** @param about whose key it is, for the log. */
export function accountSuspended(about?: Caller): Problem {
  const extras = about === undefined ? {} : { about: { accountId: about.accountId, keyId: about.keyId } };
  return problem("account_suspended", "The account is suspended. Contact support to have it resumed.", extras);
}

/** The key was rotated after this replica looked it up. Answered only by a caller that does not look it up again. */
export function keyOutdated(): Problem {
  return problem("store_unavailable", "The API key is being rotated. Try again in a second.", {
    headers: { "Retry-After": "1" },
  });
}
