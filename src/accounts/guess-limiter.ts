import { LRUCache } from "lru-cache";
import { addressBlock } from "../infra/address.ts";
import { Gathered } from "../infra/gathered.ts";
import { Problem, type ProblemCode, problem, quotaExceeded } from "../problems.ts";
import type { AccountStore } from "./store.ts";

export interface GuardOptions {
  readonly store: Pick<AccountStore, "existingSecrets">;
  /** The problem of a failed guess. */
  readonly failedGuess?: ProblemCode;
  /** Failed lookups in a window after which an address is closed; at least 1. */
  readonly failures?: number;
  /** Length of the window, in whole seconds from the first failure; at least 1. */
  readonly windowSeconds?: number;
  /** Maximum number of address blocks to remember. The block that was not used for longest is evicted first. */
  readonly addresses?: number;
}

/**
 * The only problem that counts as a failed guess. A revoked key or a key of a suspended account was not guessed, and the
 * address that still sends it may also send a valid one. If the store does not answer, nothing is known about the key.
 */
const WRONG_KEY: ProblemCode = "api_key_invalid";

const TOO_MANY_FAILURES =
  "Too many requests with wrong API keys came from this address. Check your key, and try again shortly.";
const TOO_MANY_WAITING = "Too many API keys wait to be checked. Send the request again in a second."; // it may be valid
const BUSY_SECONDS = 1;
const MAX_WAITING = 5_000;
/** If the store is prompt, a lookup in a batch takes a tenth of a second; if all places are taken, half a second. */
const BATCHES = { gapMs: 100, most: 1_000, failTogether: true } as const;

/**
 * Protects the database from guessed keys. At most `failures` lookups of one address block fail in a window; then the
 * address is closed. An address may be a balancer's, with good clients behind it. So a closed address still has its keys
 * looked up, but in batches, whose number has a bound: a key that exists is served, any other is refused. Counts
 * lookups, not requests, and counts in this process only.
 */
export class GuessLimiter {
  readonly #failedGuess: ProblemCode;
  readonly #maxFailures: number;
  /** Failures by block, each since the first one of its window. */
  readonly #failures: LRUCache<string, number>;
  /** The lookups of each block that are running outside batches. */
  readonly #running = new Map<string, Set<Promise<unknown>>>();
  readonly #asked: Gathered<{ readonly hash: string; exists: boolean }>;

  constructor({ store, failedGuess = WRONG_KEY, failures = 20, windowSeconds = 60, addresses = 50_000 }: GuardOptions) {
    this.#failedGuess = failedGuess;
    this.#maxFailures = failures;
    const ttl = windowSeconds * 1000 - 1; // LRUCache still returns an entry that is exactly `ttl` old
    this.#failures = new LRUCache({ max: addresses, ttl, noUpdateTTL: true });
    this.#asked = new Gathered(async (all) => {
      const existing = await store.existingSecrets(all.map((each) => each.hash));
      for (const each of all) each.exists = existing.has(each.hash);
    }, BATCHES);
  }

  /**
   * Runs a lookup of the key with that hash for that address, and counts it if it fails. If the running lookups could
   * use up the allowed failures, asks first whether the key exists. So a valid key is never refused for others' failures.
   * @throws problem `rate_limited` (scope `address`) if the failures are used up and the key does not exist, or if 5,000
   * other keys wait to be asked for; and what the lookup throws, or the store.
   */
  async attempt<T>({ address, hash }: { address: string; hash: string }, lookUp: () => Promise<T>): Promise<T> {
    const block = addressBlock(address);
    if (this.#failuresOf(block) + this.#runningIn(block).size < this.#maxFailures) return this.#run(block, lookUp);

    if (this.#asked.size >= MAX_WAITING) throw this.#refused(TOO_MANY_WAITING, BUSY_SECONDS);
    const asked = { hash, exists: false };
    await this.#asked.add(asked);
    if (asked.exists) return lookUp();
    const failures = this.#countFailure(block);
    // The lookups that are running may fail, too. Once they have ended, we know whether this failure is within the limit. If
    // it is, the lookup says what is wrong with the key.
    const others = failures <= this.#maxFailures ? await Promise.allSettled(this.#runningIn(block)) : [];
    const failedToo = others.filter((other) => other.status === "rejected" && this.#isFailedGuess(other.reason));
    if (failures + failedToo.length <= this.#maxFailures) return lookUp();
    const secondsLeft = Math.ceil(this.#failures.getRemainingTTL(block) / 1000);
    throw this.#refused(TOO_MANY_FAILURES, Math.max(1, secondsLeft));
  }

  /** Runs a lookup, which counts as one of the block's until it ends. */
  #run<T>(block: string, lookUp: () => Promise<T>): Promise<T> {
    const running = this.#runningIn(block);
    const counted = lookUp()
      .catch((error: unknown) => {
        if (this.#isFailedGuess(error)) this.#countFailure(block);
        throw error;
      })
      .finally(() => {
        running.delete(counted);
        if (running.size === 0) this.#running.delete(block);
      });
    this.#running.set(block, running.add(counted));
    return counted;
  }

  #failuresOf(block: string): number {
    return this.#failures.get(block) ?? 0;
  }

  /** Returns the failures of the block in this window, this one included. */
  #countFailure(block: string): number {
    const failures = this.#failuresOf(block) + 1;
    this.#failures.set(block, failures);
    return failures;
  }

  #isFailedGuess(error: unknown): boolean {
    return error instanceof Problem && error.code === this.#failedGuess;
  }

  #runningIn(block: string): Set<Promise<unknown>> {
    return this.#running.get(block) ?? new Set();
  }

  #refused(detail: string, retryAfter: number): Problem {
    const quota = { scope: "address", limit: this.#maxFailures, retry_after: retryAfter } as const;
    return problem("rate_limited", detail, quotaExceeded("address-failures", quota));
  }
}
