import { RateLimiterMemory } from "rate-limiter-flexible";
import type { Clock } from "../infra/clock.ts";
import type { ChargeRequest, Decision } from "./decision.ts";
import { limiterUnavailable } from "./observer.ts";
import { limitsOf, SURFACES, type Surface } from "./surfaces.ts";

export interface LocalLimiterOptions {
  clock: Clock;
  windowSeconds: number;
  scale: number;
  /** The number of replicas that share every limit. */
  replicasExpected: number;
}

/**
 * Decides requests while Redis does not answer (LIMITER_ON_OUTAGE=local). Counts in memory, from zero, against this
 * replica's share of each limit, rounded down. It knows no revocations, suspensions or grants, and not what Redis has
 * counted. So one window may admit the whole limit in Redis and the shares in addition.
 */
export class LocalLimiter {
  readonly #options: LocalLimiterOptions;
  readonly #shares: Readonly<Record<Surface, { account: RateLimiterMemory; key: RateLimiterMemory }>>;
  /** Decisions run one after the other, so that no other decision comes between reading the two counters and charging them. */
  #previous: Promise<unknown> = Promise.resolve();

  constructor(options: LocalLimiterOptions) {
    this.#options = options;
    this.#shares = sharesOf(options);
  }

  /**
   * Charges a request to this replica's shares of its account and key, both or neither. No round trip.
   * @throws problem `limiter_unavailable` if the key's limit is smaller than the number of replicas, so that its share is 0.
   */
  charge(request: ChargeRequest): Promise<Decision> {
    const decision = this.#previous.then(() => this.#decide(request));
    this.#previous = decision.catch(() => undefined);
    return decision;
  }

  async #decide({ accountId, keyId, surface, cost = 1 }: ChargeRequest): Promise<Decision> {
    const { clock, windowSeconds } = this.#options;
    const { account, key } = this.#shares[surface];
    if (key.points < 1) throw limiterUnavailable(new Error(`A replica has no share of the surface ${surface}`));
    const now = clock.now();
    const window = Math.floor(now / (windowSeconds * 1000));
    const accountCounter = `${accountId}:${window}`;
    const keyCounter = `${accountId}:${keyId}:${window}`;
    let accountRemaining = await remaining(account, accountCounter);
    let keyRemaining = await remaining(key, keyCounter);
    let verdict: Decision["verdict"] = "admitted";
    if (accountRemaining < cost) verdict = "account_exhausted";
    else if (keyRemaining < cost) verdict = "key_exhausted";
    else {
      accountRemaining = (await account.consume(accountCounter, cost)).remainingPoints;
      keyRemaining = (await key.consume(keyCounter, cost)).remainingPoints;
    }
    return {
      verdict,
      surface,
      account: { limit: account.points, remaining: accountRemaining },
      key: { limit: key.points, remaining: keyRemaining },
      grantRemaining: null,
      grantAmount: null,
      resetMs: (window + 1) * windowSeconds * 1000 - now,
      windowSeconds,
      window,
    };
  }
}

async function remaining(limiter: RateLimiterMemory, counter: string): Promise<number> {
  return (await limiter.get(counter))?.remainingPoints ?? limiter.points;
}

function sharesOf({ windowSeconds, scale, replicasExpected }: LocalLimiterOptions) {
  // Each counter belongs to one window, so a lifetime of one window is long enough, whenever the counter is created.
  const share = (limit: number): RateLimiterMemory =>
    new RateLimiterMemory({ points: Math.floor(limit / replicasExpected), duration: windowSeconds });
  const entries = SURFACES.map((surface) => {
    const limits = limitsOf(surface, scale);
    return [surface, { account: share(limits.account), key: share(limits.key) }] as const;
  });
  return Object.fromEntries(entries) as Record<Surface, { account: RateLimiterMemory; key: RateLimiterMemory }>;
}
