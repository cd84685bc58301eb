import { LRUCache } from "lru-cache";
import type { Clock } from "../infra/clock.ts";
import { type ChargeRequest, type Decision, decisionOf, type Verdict } from "./decision.ts";
import { limiterUnavailable } from "./observer.ts";
import { limitsOf } from "./surfaces.ts";

interface LocalLimiterOptions {
  clock: Clock;
  windowSeconds: number;
  scale: number;
  /** The number of replicas that share every limit. */
  replicasExpected: number;
}

/**
 * Returns a function that decides requests while Redis does not respond (LIMITER_ON_OUTAGE=local). It counts in memory, from
 * zero, against this replica's share of each limit, rounded down, and charges both the account and the key or neither. It
 * knows no revocations, suspensions or grants, and not what Redis has counted. So one window may admit the whole limit in
 * Redis and the shares in addition. It throws problem `limiter_unavailable` if a key's share is 0.
 */
export function localLimiter(options: LocalLimiterOptions): (request: ChargeRequest) => Decision {
  const { clock, windowSeconds, scale, replicasExpected } = options;
  /** Requests that an account or a key has used in a window. Kept for two windows, because the clock may be put back. */
  const used = new LRUCache<string, number>({ ttl: 2 * windowSeconds * 1000, ttlAutopurge: true, noUpdateTTL: true });
  return ({ accountId, keyId, surface, cost = 1 }) => {
    const { account, key } = limitsOf(surface, scale);
    const limits = { account: Math.floor(account / replicasExpected), key: Math.floor(key / replicasExpected) };
    if (limits.key < 1) throw limiterUnavailable(new Error(`A replica has no share of the surface ${surface}`));
    const nowMs = clock.now();
    const window = Math.floor(nowMs / (windowSeconds * 1000));
    const accountCounter = `${window} ${surface} ${accountId}`;
    const keyCounter = `${accountCounter} ${keyId}`;
    const accountUsed = used.get(accountCounter) ?? 0;
    const keyUsed = used.get(keyCounter) ?? 0;
    let verdict: Verdict = "admitted";
    if (accountUsed + cost > limits.account) verdict = "account_exhausted";
    else if (keyUsed + cost > limits.key) verdict = "key_exhausted";
    const charged = verdict === "admitted" ? cost : 0;
    const counted = { accountUsed: accountUsed + charged, keyUsed: keyUsed + charged, window, nowMs };
    used.set(accountCounter, counted.accountUsed).set(keyCounter, counted.keyUsed);
    return decisionOf(verdict, { surface, limits, windowSeconds }, counted);
  };
}
