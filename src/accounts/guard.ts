import { LRUCache } from "lru-cache";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { Problem, type ProblemCode, problem, QUOTA_EXCEEDED } from "../problems.ts";
import { addressBlock } from "./address.ts";

export interface GuardOptions {
  /** Failed look-ups in a window after which an address must wait; at least 1. */
  readonly failures?: number;
  /** Length of the window, in whole seconds from the first failure; at least 1. */
  readonly windowSeconds?: number;
  /** Maximum number of address blocks to remember. The block whose last failure is oldest is evicted first. */
  readonly addresses?: number;
}

/**
 * The only problem that counts as a failed guess. A revoked key or a key of a suspended account was not guessed, and the
 * address that still sends it may also send a valid one. If the store does not answer, nothing is known about the key.
 */
const FAILED_GUESS: ProblemCode = "api_key_invalid";

/** The look-ups of one address block: how many are running, and the requests that wait until they may start theirs. */
interface LookUpQueue {
  running: number;
  readonly waiting: { resolve: () => void; reject: (reason: unknown) => void }[];
}

/**
 * Protects the database from guessed keys. At most `failures` look-ups of one address block fail in a window, even if
 * many requests arrive at once. It counts look-ups, not requests, and counts in this process only.
 */
export class GuessGuard {
  readonly #maxFailures: number;
  readonly #failures: RateLimiterMemory;
  /** The blocks with a counter in `#failures`. Bounds their number, because RateLimiterMemory does not. */
  readonly #blocks: LRUCache<string, true>;
  readonly #queues = new Map<string, LookUpQueue>();

  constructor({ failures = 20, windowSeconds = 60, addresses = 50_000 }: GuardOptions = {}) {
    this.#maxFailures = failures;
    this.#failures = new RateLimiterMemory({ points: failures, duration: windowSeconds });
    this.#blocks = new LRUCache({
      max: addresses,
      dispose: (_value, block, reason) => {
        if (reason === "evict") void this.#failures.delete(block);
      },
    });
  }

  /**
   * Runs a look-up for that address, and counts it if it fails. Waits first if the running look-ups could use up the
   * allowed failures. So a burst of valid keys is queued, never refused.
   * @throws problem `rate_limited` (scope `address`), without a look-up, once the failures are used up; and what the
   * look-up throws. While it waits, it also throws the error of any other look-up of this block that ends in anything
   * but `api_key_invalid`: if the store is down, the whole queue is rejected at once.
   */
  async attempt<T>(address: string, lookUp: () => Promise<T>): Promise<T> {
    const block = addressBlock(address);
    for (;;) {
      // Add no other await before the check below, so that the failures and `running` are read at the same moment.
      const counted = await this.#failures.get(block);
      const failed = counted === null || counted.msBeforeNext <= 0 ? 0 : counted.consumedPoints;
      if (failed >= this.#maxFailures)
        throw tooManyFailures(this.#maxFailures, Math.ceil((counted?.msBeforeNext ?? 0) / 1000));
      const queue = this.#queues.get(block) ?? { running: 0, waiting: [] };
      this.#queues.set(block, queue);
      if (failed + queue.running < this.#maxFailures) return this.#run(block, queue, lookUp);
      await new Promise<void>((resolve, reject) => queue.waiting.push({ resolve, reject }));
    }
  }

  async #run<T>(block: string, queue: LookUpQueue, lookUp: () => Promise<T>): Promise<T> {
    queue.running++;
    // Wake only as many requests as can start at once. Waking the whole queue each time would take quadratic time.
    let wakeUps = this.#maxFailures;
    try {
      return await lookUp();
    } catch (error) {
      // With no failures left, all who wait are refused, so wake them all.
      if (await this.#usesUpFailures(block, queue, error)) wakeUps = queue.waiting.length;
      throw error;
    } finally {
      queue.running--;
      for (const { resolve } of queue.waiting.splice(0, wakeUps)) resolve();
      if (queue.running === 0 && queue.waiting.length === 0) this.#queues.delete(block);
    }
  }

  /** Counts a failed guess, and returns whether the block has now used up its failures. Any other error rejects the queue. */
  async #usesUpFailures(block: string, queue: LookUpQueue, error: unknown): Promise<boolean> {
    if (error instanceof Problem && error.code === FAILED_GUESS) {
      this.#blocks.set(block, true);
      return (await this.#failures.penalty(block)).consumedPoints >= this.#maxFailures;
    }
    for (const { reject } of queue.waiting.splice(0)) reject(error);
    return false;
  }
}

function tooManyFailures(limit: number, retryAfter: number): Problem {
  const detail = "Too many requests with wrong API keys came from this address. Check your key, and try again shortly.";
  return problem("rate_limited", detail, {
    members: { type: QUOTA_EXCEEDED, scope: "address", limit, retry_after: retryAfter },
    headers: { "Retry-After": String(retryAfter) },
  });
}
