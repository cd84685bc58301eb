import { accountSuspended, keyOutdated, keyReplaced, keyRevoked } from "../accounts/refusals.ts";
import { QUOTA_EXCEEDED, type Refusal, refusal } from "../problems.ts";
import type { Decision, KeyRefusal, Verdict } from "./decision.ts";

/**
 * Returns the headers `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10) for the response to
 * a charged request, admitted or not. A live grant is a third policy. No window restores it, so it has no w and no t.
 */
export function rateLimitHeaders(decision: Decision): Record<string, string> {
  const { account, key, windowSeconds: w, grantRemaining, grantAmount } = decision;
  const t = secondsToReset(decision);
  const policies = [`"account";q=${account.limit};w=${w}`, `"key";q=${key.limit};w=${w}`];
  const limits = [`"account";r=${account.remaining};t=${t}`, `"key";r=${key.remaining};t=${t}`];
  if (grantRemaining !== null) {
    policies.push(`"grant";q=${grantAmount}`);
    limits.push(`"grant";r=${grantRemaining}`);
  }
  return { "RateLimit-Policy": policies.join(", "), RateLimit: limits.join(", ") };
}

/**
 * Returns the whole seconds until the window ends, rounded up, at least 1. This is `t` in RateLimit and the Retry-After
 * of a refusal. A client that waits exactly this long finds a new window.
 */
export function secondsToReset({ resetMs }: Pick<Decision, "resetMs">): number {
  return Math.max(1, Math.ceil(resetMs / 1000));
}

/** Returns what to answer, rate_limited or the refusal of an unusable key. Undefined if the request is admitted. */
export function refusalOf(decision: Decision): Refusal | undefined {
  return REFUSALS[decision.verdict](decision);
}

/** Returns what to answer if the key may not be used. */
export function keyRefused(reason: KeyRefusal): Refusal {
  return KEY_REFUSALS[reason]();
}

const KEY_REFUSALS: Record<KeyRefusal, () => Refusal> = {
  revoked: keyRevoked,
  suspended: () => accountSuspended(),
  outdated: keyOutdated,
  replaced: keyReplaced,
};

const REFUSALS: Record<Verdict, (decision: Decision) => Refusal | undefined> = {
  admitted: () => undefined,
  granted: () => undefined,
  account_exhausted: (decision) => rateLimited(decision, "account"),
  key_exhausted: (decision) => rateLimited(decision, "key"),
  ...KEY_REFUSALS,
};

/** The last refusal of each surface and scope: within a second all are alike, and in a flood there are thousands. */
const latest = new Map<string, { limit: number; windowSeconds: number; retryAfter: number; refused: Refusal }>();

function rateLimited(decision: Decision, scope: "account" | "key"): Refusal {
  const { surface, windowSeconds } = decision;
  const { limit } = decision[scope];
  const retryAfter = secondsToReset(decision);
  const name = `${scope} ${surface}`;
  const last = latest.get(name);
  if (last?.retryAfter === retryAfter && last.limit === limit && last.windowSeconds === windowSeconds)
    return last.refused;
  const detail =
    `Too many requests: this ${scope} may make ${limit} ${surface} requests in ${inWords(windowSeconds)}. ` +
    `Please try again shortly: in ${durationOf(retryAfter)}.`;
  const refused = refusal("rate_limited", detail, {
    members: { type: QUOTA_EXCEEDED, surface, scope, limit, retry_after: retryAfter },
    headers: { "Retry-After": String(retryAfter) },
  });
  latest.set(name, { limit, windowSeconds, retryAfter, refused });
  return refused;
}

function inWords(seconds: number): string {
  return seconds === 3600 ? "an hour" : durationOf(seconds);
}

/** Says a time as a person would: in minutes from two minutes on, rounded up. */
function durationOf(seconds: number): string {
  if (seconds >= 120) return `${Math.ceil(seconds / 60)} minutes`;
  return seconds === 1 ? "1 second" : `${seconds} seconds`;
}
