import type { Caller, KnownCaller } from "../accounts/caller.ts";
import type { Surface } from "./surfaces.ts";

/** `granted` is admitted as well: a window was exhausted, so the request was drawn from a grant and charged no window. */
export type Verdict = "admitted" | "granted" | "account_exhausted" | "key_exhausted" | KeyRefusal;

/**
 * Why a key may not be used at all. `suspended`: its account is. `replaced`: the grace of the secret that came is over.
 * `outdated` decides nothing: the key was rotated since the replica looked it up, so look it up and ask again.
 */
export type KeyRefusal = "revoked" | "suspended" | "outdated" | "replaced";

/** A caller, with what the replica believes about its key. What is left out is not checked. */
export type CallerClaim = Caller & Partial<Pick<KnownCaller, "accountVersion" | "secretEndsAt">>;

/** One request to be charged. */
export interface ChargeRequest extends CallerClaim {
  readonly surface: Surface;
  /** How many requests it counts as: a whole number, at least 1. Default 1. */
  readonly cost?: number;
}

/** One window of a surface, of the account or of one key, in requests. */
export interface Quota {
  readonly limit: number;
  readonly remaining: number;
}

/** What the limiter decided about one request. A refusal is a value, not an error, and charged nothing. */
export interface Decision {
  readonly verdict: Verdict;
  readonly surface: Surface;
  readonly account: Quota;
  readonly key: Quota;
  /** What remains of the key's live grants, and what they were issued with. Null without one, or if the surface draws none. */
  readonly grantRemaining: number | null;
  readonly grantAmount: number | null;
  /** Milliseconds until the window ends and both counters restart, at least 1. */
  readonly resetMs: number;
  readonly windowSeconds: number;
  /** Which window, counted from the epoch: floor(Redis's clock / window). */
  readonly window: number;
}
