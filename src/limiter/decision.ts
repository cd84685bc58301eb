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

/** The limit of an account or a key on one surface, and what remains of it in the window. In requests. */
export interface Quota {
  readonly limit: number;
  readonly remaining: number;
}

/** The limiter's decision about one request. A refusal is a value, not an error. It charges nothing. */
export interface Decision {
  readonly verdict: Verdict;
  readonly surface: Surface;
  readonly account: Quota;
  readonly key: Quota;
  /** Requests that remain in the key's live grants, and for which those were issued. Null if there are none. */
  readonly grantRemaining: number | null;
  readonly grantAmount: number | null;
  /** Milliseconds until the window ends and both counters restart, at least 1. */
  readonly resetMs: number;
  readonly windowSeconds: number;
  /** The number of the window: floor(Redis's clock / window length). */
  readonly window: number;
}
