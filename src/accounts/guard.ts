import { LRUCache } from "lru-cache";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { Problem, type ProblemCode, problem, QUOTA_EXCEEDED } from "../problems.ts";
import { addressBlock } from "./address.ts";

export interface GuardOptions {
  /** Failures after which an address has to wait; at least 1. */
  readonly failures?: number;
  /** How long it has to wait from the first of them, in whole seconds; at least 1. */
  readonly windowSeconds?: number;
  /** Addresses that are remembered; the one whose last failure is longest ago is forgotten first. */
  readonly addresses?: number;
}

/**
 * What a guess ends with. A revoked key or one of a suspended account was not guessed, and an address that goes on using it
 * may well be where its good successor is used; a store that does not answer says nothing about the key.
 */
const FAILURE: ProblemCode = "api_key_invalid";

/** The look-ups of one block of addresses: how many run, and who waits to see whether there is room for theirs. */
interface Line {
  running: number;
  readonly waiting: { resolve: () => void; reject: (reason: unknown) => void }[];
}

/**
 * Keeps guesses at keys away from the database: in a window, at most `failures` look-ups for one address end without a good
 * key, however many are asked for at once. It lives in one process and counts look-ups, not requests.
 */
export class GuessGuard {
  readonly #most: number;
  readonly #failed: RateLimiterMemory;
  /** The blocks that `#failed` has counters for, so that those can be bounded: it would keep any number by itself. */
  readonly #remembered: LRUCache<string, true>;
  readonly #lines = new Map<string, Line>();

  constructor({ failures = 20, windowSeconds = 60, addresses = 50_000 }: GuardOptions = {}) {
    this.#most = failures;
    this.#failed = new RateLimiterMemory({ points: failures, duration: windowSeconds });
    this.#remembered = new LRUCache({
      max: addresses,
      dispose: (_value, block, reason) => {
        if (reason === "evict") void this.#failed.delete(block);
      },
    });
  }

  /**
   * Runs a look-up for that address, and counts it if it fails. While so many are running that their failing would be too much,
   * it waits for one of them to end: a burst of good keys is only put in line, never refused.
   * @throws problem `rate_limited` with scope `address` once the failures are used up, without running it; and what the look-up
   * throws, or the one it waited for when that says nothing about its key: a line behind a store that is down dissolves at once.
   */
  async attempt<T>(address: string, lookUp: () => Promise<T>): Promise<T> {
    const block = addressBlock(address);
    for (;;) {
      // Nothing may come between this one await and the check: then failures read here and `running` are of the same moment.
      const counted = await this.#failed.get(block);
      const failed = counted === null || counted.msBeforeNext <= 0 ? 0 : counted.consumedPoints;
      if (failed >= this.#most) throw tooMany(this.#most, Math.ceil((counted?.msBeforeNext ?? 0) / 1000));
      const line = this.#lines.get(block) ?? { running: 0, waiting: [] };
      this.#lines.set(block, line);
      if (failed + line.running < this.#most) return this.#run(block, line, lookUp);
      await new Promise<void>((resolve, reject) => line.waiting.push({ resolve, reject }));
    }
  }

  async #run<T>(block: string, line: Line, lookUp: () => Promise<T>): Promise<T> {
    line.running++;
    // A few look again each time one ends. Waking all would make a long line cost its square.
    let awake = this.#most;
    try {
      return await lookUp();
    } catch (error) {
      if (await this.#isLast(block, line, error)) awake = line.waiting.length;
      throw error;
    } finally {
      line.running--;
      for (const { resolve } of line.waiting.splice(0, awake)) resolve();
      if (line.running === 0 && line.waiting.length === 0) this.#lines.delete(block);
    }
  }

  /** Counts a failure; whether it was the last that the address had. */
  async #isLast(block: string, line: Line, error: unknown): Promise<boolean> {
    if (error instanceof Problem && error.code === FAILURE) {
      this.#remembered.set(block, true);
      return (await this.#failed.penalty(block)).consumedPoints >= this.#most;
    }
    for (const { reject } of line.waiting.splice(0)) reject(error);
    return false;
  }
}

function tooMany(limit: number, retryAfter: number): Problem {
  const detail = "Too many requests with wrong API keys came from this address. Check the key, and try again shortly.";
  return problem("rate_limited", detail, {
    members: { type: QUOTA_EXCEEDED, scope: "address", limit, retry_after: retryAfter },
    headers: { "Retry-After": String(retryAfter) },
  });
}
