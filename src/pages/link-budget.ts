import { RateLimiterMemory } from "rate-limiter-flexible";
import { type Problem, problem, QUOTA_EXCEEDED } from "../problems.ts";

/** Requests of one link in a minute, on this replica. */
const MAX_REQUESTS = 60;
/** Uploads of one link at once, on this replica. */
const MAX_UPLOADS = 2;
/** Retry-After if too many uploads run, in seconds. */
const UPLOAD_SECONDS = 10;

/**
 * Bounds what the holder of one link costs. Links are named by the hash of their token. It keeps one entry for each link
 * that was opened in the last minute.
 */
export class LinkBudget {
  readonly #requests = new RateLimiterMemory({ points: MAX_REQUESTS, duration: 60 });
  readonly #uploads = new Map<string, number>();

  /** Refuses a link whose requests are used up, at no other cost. @throws problem rate_limited (scope `link`) */
  async check(link: string): Promise<void> {
    const counted = await this.#requests.get(link);
    if (counted !== null && counted.consumedPoints >= MAX_REQUESTS && counted.msBeforeNext > 0)
      throw tooMany(MAX_REQUESTS, Math.ceil(counted.msBeforeNext / 1000));
  }

  /** Counts a request of a link that exists. @throws problem rate_limited (scope `link`) */
  async count(link: string): Promise<void> {
    const { consumedPoints, msBeforeNext } = await this.#requests.penalty(link);
    if (consumedPoints > MAX_REQUESTS) throw tooMany(MAX_REQUESTS, Math.ceil(msBeforeNext / 1000));
  }

  /** Runs an upload. @throws problem rate_limited (scope `link`) if MAX_UPLOADS of the link run already. */
  async during<Result>(link: string, upload: () => Promise<Result>): Promise<Result> {
    const running = this.#uploads.get(link) ?? 0;
    if (running >= MAX_UPLOADS) throw tooMany(MAX_UPLOADS, UPLOAD_SECONDS);
    this.#uploads.set(link, running + 1);
    try {
      return await upload();
    } finally {
      const left = (this.#uploads.get(link) ?? 1) - 1;
      if (left === 0) this.#uploads.delete(link);
      else this.#uploads.set(link, left);
    }
  }
}

function tooMany(limit: number, retryAfter: number): Problem {
  return problem("rate_limited", "Too many requests came with this link. Try again shortly.", {
    members: { type: QUOTA_EXCEEDED, scope: "link", limit, retry_after: retryAfter },
    headers: { "Retry-After": String(retryAfter) },
  });
}
