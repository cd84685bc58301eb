import type { Caller, KnownCaller } from "../accounts/caller.ts";
import type { Surface } from "./surfaces.ts";

/** `granted`: a window was exhausted, so the request was admitted on a grant and charged to no window. */
export type Verdict = "admitted" | "granted" | "account_exhausted" | "key_exhausted" | KeyRefusal;

/**
 * The reason why a key may not be used. `replaced`: the grace of the secret that was sent is over. `outdated`: the account was changed
 * after the replica looked the key up, or Redis does not know the account's version. Look the key up and ask again.
 */
export type KeyRefusal = "outdated" | "replaced";

/** A caller, with what the replica has cached about its key. What is undefined is not checked. */
export type CallerClaim = Caller & {
  readonly [name in "accountVersion" | "connections" | "secretEndsAt"]?: KnownCaller[name] | undefined;
};

export interface ChargeRequest extends CallerClaim {
  readonly surface: Surface;
  /** Number of requests that it counts as: a whole number, at least 1. Default 1. */
  readonly cost?: number;
}

/** The limiter's decision about one request. A refusal is a value, not an error. It charges nothing. */
export type Decision = Readonly<ReturnType<typeof decisionOf>>;

/** What an account and a key have used of a surface in a window, in requests, with this one if it was admitted. */
export type Counted = Readonly<{ accountUsed: number; keyUsed: number; window: number; nowMs: number }>;

/** Totals of a key's live grants for one surface, in requests; -1 if there is none. */
export interface LiveGrants {
  readonly grantRemaining: number;
  /** Requests that they were issued for. */
  readonly grantAmount: number;
}

export const NO_GRANTS: LiveGrants = { grantRemaining: -1, grantAmount: -1 };

export function decisionOf(
  verdict: Verdict,
  { surface, limits, windowSeconds }: Terms,
  { accountUsed, keyUsed, window, nowMs }: Counted,
  { grantRemaining, grantAmount } = NO_GRANTS,
) {
  return {
    verdict,
    surface,
    /** The limits of the account and of the key, and what remains of them in the window. In requests. */
    account: { limit: limits.account, remaining: Math.max(limits.account - accountUsed, 0) },
    key: { limit: limits.key, remaining: Math.max(limits.key - keyUsed, 0) },
    /** Requests that remain in the key's live grants, and for which those were issued. Null if there are none. */
    grantRemaining: grantRemaining < 0 ? null : grantRemaining,
    grantAmount: grantAmount < 0 ? null : grantAmount,
    /** Milliseconds until the window ends and both counters restart, at least 1. */
    resetMs: (window + 1) * windowSeconds * 1000 - nowMs,
    windowSeconds,
    /** The number of the window: floor(Redis's clock / window length). */
    window,
  };
}

/** What a request is charged against. */
export interface Terms {
  readonly surface: Surface;
  readonly limits: { readonly account: number; readonly key: number };
  readonly windowSeconds: number;
}
