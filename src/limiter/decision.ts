import type { Caller, KnownCaller } from "../accounts/caller.ts";
import type { Surface } from "./surfaces.ts";

/**
 * `granted` is admitted too, drawn from a grant of the key because a window was exhausted; it charged no window.
 * `outdated` says nothing about the request yet: the key was rotated since it was looked up, so look it up and ask again.
 */
export type Verdict = "admitted" | "granted" | "account_exhausted" | "key_exhausted" | Standing;

/** Why a key is not even asked about its windows. `replaced`: the secret that came is one whose grace is over. */
export type Standing = "revoked" | "suspended" | "outdated" | "replaced";

/** A caller, with what the replica knows of its key and may be mistaken about; what is left out is not looked at. */
export type Asked = Caller & Partial<Pick<KnownCaller, "accountVersion" | "secretEndsAt">>;

/** One request to be charged. */
export interface ChargeRequest extends Asked {
  readonly surface: Surface;
  /** How many requests it counts as: a whole number from 1, 1 unless given. */
  readonly cost?: number;
}

/** A window of one surface, of the account or of one key: counts of requests. */
export interface Quota {
  readonly limit: number;
  readonly remaining: number;
}

/** What the limiter said about one request. A refusal is a value like any other: it charged nothing. */
export interface Decision {
  readonly verdict: Verdict;
  readonly surface: Surface;
  readonly account: Quota;
  readonly key: Quota;
  /** What the key's live grants still hold, and held when they were issued; null without one, or where none may be drawn. */
  readonly grantRemaining: number | null;
  readonly grantAmount: number | null;
  /** Milliseconds until the window ends and both counters start anew, at least 1. */
  readonly resetMs: number;
  readonly windowSeconds: number;
  /** Which window, counted from the epoch: floor(Redis's clock / window). */
  readonly window: number;
}
