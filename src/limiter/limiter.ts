import type { SharedClock } from "../infra/clock.ts";
import type { RedisClient } from "../infra/redis.ts";
import { type ChargeAnswer, run } from "../infra/scripts.ts";
import type { Asked, ChargeRequest, Decision, Standing, Verdict } from "./decision.ts";
import { keys } from "./keys.ts";
import { LocalLimiter } from "./local.ts";
import { answerOf } from "./outage.ts";
import { limitsOf, mayDrawGrants } from "./surfaces.ts";

export type { ChargeRequest, Decision, Quota, Verdict } from "./decision.ts";

export interface LimiterOptions {
  redis: RedisClient;
  /** Made to follow Redis's clock by every answer that came in time. */
  clock: SharedClock;
  /** LIMIT_WINDOW_SECONDS, LIMIT_SCALE and LIMITER_TIMEOUT_MS. */
  windowSeconds: number;
  scale: number;
  timeoutMs: number;
  /** Redis does not answer: `refuse` with 503, or go on `local`ly, each of `replicasExpected` replicas with its share. */
  onOutage: "refuse" | "local";
  replicasExpected: number;
}

/** In the order of lua/charge.lua. */
const VERDICTS: readonly (Verdict | undefined)[] = [
  "admitted",
  "account_exhausted",
  "key_exhausted",
  "revoked",
  "suspended",
  "granted",
  "outdated",
  "replaced",
];
const STALE = VERDICTS.length;

/** By the answers of lua/check-key.lua. */
const STANDINGS = { 0: undefined, 3: "revoked", 4: "suspended", 6: "outdated", 7: "replaced" } as const;

const ANY_VERSION = Number.MAX_SAFE_INTEGER;
const NEVER = 0;

/** An answer that took so long leaves the clock as it is: it would be that far behind, and replicas' clocks must agree to within 2 s. */
const PROMPT_MS = 1_000;

/** A timer may fire so much before its time, and the deadline must not come after the answer 503. */
const TIMER_EARLY_MS = 1;

/**
 * Decides requests by lua/charge.lua, exactly, together with every other replica on the same Redis.
 *
 * Each charge carries a deadline in Redis's time: a command that sat in a socket while its caller was answered 503 finds
 * itself stale and charges nothing. The deadline comes from Redis's last answer and this process's monotonic timer, which
 * can only be behind, so a charge may be called stale early (and is tried again) but never counts late.
 */
export class Limiter {
  readonly #options: LimiterOptions;
  readonly #local: LocalLimiter | null;
  /** Redis's clock less `performance.now()`, in milliseconds; null before the first answer. */
  #redisOffset: number | null = null;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#local = options.onOutage === "local" ? new LocalLimiter(options) : null;
  }

  /**
   * Charges a request to its account and key, both or neither. One round trip (a second one when the first came too late
   * to charge anything, within the same time). Source: lua/charge.lua.
   * @returns the decision, which the caller must look at: a refusal is not thrown.
   * @throws problem `limiter_unavailable` within `timeoutMs`; the request may then have been charged, once, and is not admitted.
   */
  async charge(request: ChargeRequest): Promise<Decision> {
    try {
      const answer = await answerOf(this.#ask(request), this.#options.timeoutMs);
      return this.#decision(request, answer);
    } catch (error) {
      if (this.#local === null) throw error;
      return this.#local.charge(request);
    }
  }

  /**
   * What keeps a key from being asked about its windows at all; undefined while it is good. For surfaces without a limit.
   * One round trip. Source: lua/check-key.lua. @throws problem `limiter_unavailable` within `timeoutMs`.
   */
  async standing({ accountId, keyId, accountVersion = ANY_VERSION, secretEndsAt = NEVER }: Asked): Promise<Standing | undefined> {
    const { redis, timeoutMs } = this.#options;
    const asked = run(redis, "standing", keys.keyStanding({ accountId, keyId }), keys.accountStanding(accountId), accountVersion, secretEndsAt);
    return STANDINGS[await answerOf(asked, timeoutMs)];
  }

  async #ask(request: ChargeRequest): Promise<ChargeAnswer> {
    const givenUpAt = performance.now() + this.#options.timeoutMs;
    let answer = await this.#send(request, givenUpAt);
    if (answer[0] === STALE && performance.now() < givenUpAt) answer = await this.#send(request, givenUpAt);
    if (answer[0] === STALE) throw new Error("The charge reached Redis after its deadline");
    return answer;
  }

  async #send({ accountId, keyId, surface, cost = 1, accountVersion = ANY_VERSION, secretEndsAt = NEVER }: ChargeRequest, givenUpAt: number): Promise<ChargeAnswer> {
    const { redis, windowSeconds, scale, clock } = this.#options;
    const caller = { accountId, keyId };
    const limits = limitsOf(surface, scale);
    const asked = performance.now();
    const offset = this.#redisOffset ?? clock.now() - asked;
    const answer = await run(
      redis,
      "charge",
      keys.accountCounter(accountId, surface),
      keys.keyCounter(caller, surface),
      keys.keyStanding(caller),
      keys.accountStanding(accountId),
      keys.grants(caller),
      limits.account,
      limits.key,
      windowSeconds,
      cost,
      mayDrawGrants(surface) ? 1 : 0,
      Math.floor(offset + givenUpAt) - TIMER_EARLY_MS,
      accountVersion,
      secretEndsAt,
    );
    const received = performance.now();
    // An answer that took longer says too little about what the time is now.
    if (received < givenUpAt) this.#redisOffset = answer[5] - received;
    if (received < Math.min(givenUpAt, asked + PROMPT_MS)) clock.follow(answer[5], received);
    return answer;
  }

  #decision({ surface }: ChargeRequest, answer: ChargeAnswer): Decision {
    const [code, accountRemaining, keyRemaining, resetMs, grantRemaining, nowMs, grantAmount] = answer;
    const verdict = VERDICTS[code];
    if (verdict === undefined) throw new Error(`lua/charge.lua gave an unknown verdict: ${code}`);
    const { windowSeconds, scale } = this.#options;
    const limits = limitsOf(surface, scale);
    return {
      verdict,
      surface,
      account: { limit: limits.account, remaining: accountRemaining },
      key: { limit: limits.key, remaining: keyRemaining },
      grantRemaining: grantRemaining < 0 ? null : grantRemaining,
      grantAmount: grantAmount < 0 ? null : grantAmount,
      resetMs,
      windowSeconds,
      window: (nowMs + resetMs) / (windowSeconds * 1000) - 1,
    };
  }
}
