import { LRUCache } from "lru-cache";
import { keyOutdated, keyReplaced } from "../accounts/refusals.ts";
import { quotaExceeded, type Refusal, refusal } from "../problems.ts";
import type { ChargeRequest, Decision, KeyRefusal, LiveGrants, Verdict } from "./decision.ts";
import type { Surface } from "./surfaces.ts";

/**
 * Returns the headers `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-11) for the response to
 * a charged request, admitted or not. A live grant is a third policy. No window restores it, so it has no w and no t.
 */
export function rateLimitHeaders(decision: Decision): Record<string, string> {
  const { surface, account, key, windowSeconds: w, grantRemaining, grantAmount } = decision;
  const t = secondsToReset(decision);
  const [ofAccount, ofKey] = [policyOf("account", surface), policyOf("key", surface)];
  const policies = [`"${ofAccount}";q=${account.limit};w=${w}`, `"${ofKey}";q=${key.limit};w=${w}`];
  const limits = [`"${ofAccount}";r=${account.remaining};t=${t}`, `"${ofKey}";r=${key.remaining};t=${t}`];
  if (grantRemaining !== null) {
    const ofGrant = policyOf("grant", surface);
    policies.push(`"${ofGrant}";q=${grantAmount}`);
    limits.push(`"${ofGrant}";r=${grantRemaining}`);
  }
  return { "RateLimit-Policy": policies.join(", "), RateLimit: limits.join(", ") };
}

/** Returns the name of a policy. It includes the surface, because clients cache quotas by policy name. */
function policyOf(scope: "account" | "key" | "grant", surface: Surface): string {
  return `${scope}-${surface}`;
}

/**
 * Returns the whole seconds until the window ends, rounded up, at least 1. This is `t` in RateLimit, and the least
 * Retry-After of a refusal. A client that waits exactly this long finds a new window.
 */
export function secondsToReset({ resetMs }: Pick<Decision, "resetMs">): number {
  return Math.max(1, Math.ceil(resetMs / 1000));
}

/**
 * Returns the refusal, or undefined if the request is admitted. `keyId` decides how much later than the end of the window
 * a key may come back: see `delayOf`.
 * @param cost the number of requests that it counts as.
 */
export function refusalOf(decision: Decision, keyId: string, cost = 1): Refusal | undefined {
  const { verdict } = decision;
  if (verdict === "admitted" || verdict === "granted") return undefined;
  if (verdict === "account_exhausted") return rateLimited(decision, "account", keyId, cost);
  return verdict === "key_exhausted" ? rateLimited(decision, "key", keyId, cost) : keyRefused(verdict);
}

export function keyRefused(reason: KeyRefusal): Refusal {
  return reason === "outdated" ? keyOutdated() : keyReplaced();
}

/** In a flood there are thousands within a second, which are alike but for the scope, the surface and the delay. */
const recent = new LRUCache<string, Refusal>({ max: 500 });

function rateLimited(decision: Decision, scope: "account" | "key", keyId: string, cost: number): Refusal {
  const { surface, windowSeconds } = decision;
  const { limit } = decision[scope];
  const retryAfter = secondsToReset(decision) + delayOf(keyId, windowSeconds);
  // What one request finds exhausted has nothing left for it.
  const remaining = cost === 1 ? undefined : Math.min(decision.account.remaining, decision.key.remaining);
  const name = `${scope} ${surface} ${limit} ${windowSeconds} ${retryAfter} ${cost} ${remaining}`;
  const known = recent.get(name);
  if (known !== undefined) return known;
  const window = windowSeconds === 3600 ? "an hour" : durationOf(windowSeconds);
  const detail =
    `Too many requests: this ${scope} may make ${limit} ${surface} requests in ${window}` +
    (remaining === undefined ? ". " : `, and ${remaining} remain. This request counts as ${cost}. `) +
    `Please try again shortly: in ${durationOf(retryAfter)}.`;
  const left = remaining === undefined ? {} : { remaining };
  const members = { surface, scope, limit, ...left, retry_after: retryAfter };
  const extras = quotaExceeded(policyOf(scope, surface), members);
  const refused = refusal("rate_limited", detail, extras);
  recent.set(name, refused);
  return refused;
}

/**
 * Returns the whole seconds after the end of the window at which a refused key may come back: 0 to 1/120 of the window, so
 * up to 30 of an hour. Without them, all refused clients would come back in the second in which the window ends.
 */
function delayOf(keyId: string, windowSeconds: number): number {
  return hashOf(keyId) % (Math.floor(windowSeconds / 120) + 1);
}

/** Returns the 32-bit FNV-1a hash of an ASCII text. About 0.1 µs for an id. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** Says a time as a person would: in minutes from two minutes on, rounded up. */
function durationOf(seconds: number): string {
  if (seconds >= 120) return `${Math.ceil(seconds / 60)} minutes`;
  return seconds === 1 ? "1 second" : `${seconds} seconds`;
}

const MAX_REMEMBERED = 10_000;

/**
 * Remembers which keys have no grants for a surface, so that their charges need not read the grants only to show them. The
 * issue of a grant raises the account's version, so what was remembered for an earlier one no longer counts.
 */
export class ShownGrants {
  /** Keys are a key and a surface; values are the version of the account at which there were no grants. */
  readonly #none = new LRUCache<string, number>({ max: MAX_REMEMBERED });

  /** Returns true if the key may have a grant that the response must show. A claim without a version always may. */
  mayHave({ keyId, surface, accountVersion }: ChargeRequest): boolean {
    return accountVersion === undefined || this.#none.get(nameOf(keyId, surface)) !== accountVersion;
  }

  /** Notes the verdict on a charge, and the key's live grants at that time. */
  note({ keyId, surface, accountVersion }: ChargeRequest, verdict: Verdict, { grantAmount }: LiveGrants): void {
    if (accountVersion === undefined || verdict === "outdated" || grantAmount >= 0) return;
    this.#none.set(nameOf(keyId, surface), accountVersion);
  }
}

function nameOf(keyId: string, surface: string): string {
  return `${surface}:${keyId}`;
}
