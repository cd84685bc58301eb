import { RateLimiterMemory, type RateLimiterRes } from "rate-limiter-flexible";
import { type Problem, problem, quotaExceeded } from "../../problems.ts";

/** Requests of one link in a minute, on this replica. */
const MAX_REQUESTS = 60;
/** Maximum forms of one link that arrive at once on this replica: files, and a referee's answers. */
const MAX_FORMS = 2;
/** Value of Retry-After if a link sends too many forms at once, in seconds. */
const FORM_SECONDS = 10;

/**
 * Bounds what the holder of one link costs. Links are named by the hash of their token. It keeps one entry for each link
 * that was opened in the last minute.
 */
export class LinkBudget {
  readonly #requests = new RateLimiterMemory({ points: MAX_REQUESTS, duration: 60 });
  readonly #forms = new Map<string, number>();

  /** Refuses a link whose requests are used up, at no other cost. @throws problem rate_limited (scope `link`) */
  async check(link: string): Promise<void> {
    refuseAbove(MAX_REQUESTS - 1, await this.#requests.get(link));
  }

  /** Counts a request of a link that exists. @throws problem rate_limited (scope `link`) */
  async count(link: string): Promise<void> {
    refuseAbove(MAX_REQUESTS, await this.#requests.penalty(link));
  }

  /** Receives a form. @throws problem rate_limited (scope `link`) if MAX_FORMS of the link arrive already. */
  async during<Result>(link: string, receive: () => Promise<Result>): Promise<Result> {
    const running = this.#forms.get(link) ?? 0;
    if (running >= MAX_FORMS) throw tooMany("link-forms", MAX_FORMS, FORM_SECONDS);
    this.#forms.set(link, running + 1);
    try {
      return await receive();
    } finally {
      const left = (this.#forms.get(link) ?? 1) - 1;
      if (left === 0) this.#forms.delete(link);
      else this.#forms.set(link, left);
    }
  }
}

function refuseAbove(limit: number, counted: RateLimiterRes | null): void {
  if (counted !== null && counted.consumedPoints > limit && counted.msBeforeNext > 0)
    throw tooMany("link-requests", MAX_REQUESTS, Math.ceil(counted.msBeforeNext / 1000));
}

function tooMany(policy: string, limit: number, retryAfter: number): Problem {
  const extras = quotaExceeded(policy, { scope: "link", limit, retry_after: retryAfter });
  return problem("rate_limited", "Too many requests came with this link. Try again shortly.", extras);
}
