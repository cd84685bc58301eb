import { type Problem, problem } from "../problems.ts";

/** RFC 6750, 3: how to authenticate, on every 401; `invalid_token` only where a key was given. */
const CHALLENGE = 'Bearer realm="candidate-onboarding"';

/** No key was given. `detail` must not repeat what was: it may be a key in the wrong place. */
export function keyMissing(detail: string): Problem {
  return problem("api_key_missing", detail, { headers: { "WWW-Authenticate": CHALLENGE } });
}

/** What was given is no key that works. */
export function keyInvalid(detail: string): Problem {
  return problem("api_key_invalid", detail, { headers: { "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"` } });
}

/** The key worked once and was revoked. */
export function keyRevoked(): Problem {
  return problem("api_key_revoked", "The API key was revoked. Use another one, or ask for a new one.", {
    headers: { "WWW-Authenticate": `${CHALLENGE}, error="invalid_token"` },
  });
}

/** The secret was good once; its key has a newer one, and its grace is over. */
export function keyReplaced(): Problem {
  return keyInvalid("The API key was replaced by a newer one, and its time is over. Use the new one.");
}

/** The key is good, its account is not. */
export function accountSuspended(): Problem {
  return problem("account_suspended", "The account is suspended. Contact support to have it resumed.");
}

/** The key was changed since it was looked up; whoever asks has to look again, so this is answered only if nobody did. */
export function keyOutdated(): Problem {
  return problem("store_unavailable", "The API key is being changed. Try again shortly.", {
    headers: { "Retry-After": "1" },
  });
}
