import { RateLimitError } from "./errors.ts";

/** What a request counts against. `free` counts against nothing. */
export type Surface = "create" | "list" | "reads" | "start" | "writes" | "pack" | "settings" | "free";

/** A refusal in force. It holds the calls that count as more than what is left. */
interface Hold {
  readonly until: number;
  readonly refusal: RateLimitError;
  left: number;
}

/** What the client knows about the limits from earlier responses, for each surface. A call that counts as several has that cost. */
export class KnownLimits {
  readonly #paced: boolean;
  readonly #held = new Map<Surface, Hold[]>();
  readonly #pace = new Map<Surface, { intervalMs: number; next: number }>();

  /** @param paced whether to spread requests over the rest of a window once less than half of a limit is left. */
  constructor(paced: boolean) {
    this.#paced = paced;
  }

  /**
   * Remembers a refusal, so that no such request for this surface is sent before its Retry-After ends. It holds no request
   * that costs less than the refused one, unless the refusal says that less than that is left.
   */
  hold(surface: Surface, refusal: RateLimitError, cost = 1): void {
    const now = performance.now();
    const until = now + refusal.retryAfter * 1000;
    const left = refusal.problem.remaining ?? (refusal.scope === "address" ? 0 : cost - 1);
    const others = this.#held.get(surface) ?? [];
    const kept = others.filter((hold) => hold.until > now && (hold.until > until || hold.left < left));
    this.#held.set(surface, [...kept, { until, refusal, left }]);
  }

  /** Returns the refusal that holds longest among those in force for this cost, with the seconds that are left of it. */
  refusal(surface: Surface, cost = 1): RateLimitError | undefined {
    const holding = (this.#held.get(surface) ?? []).filter((hold) => hold.left < cost);
    const [held] = holding.toSorted((a, b) => b.until - a.until);
    if (held === undefined) return undefined;
    const seconds = (held.until - performance.now()) / 1000;
    if (seconds <= 0) return undefined;
    const { problem, requestId } = held.refusal;
    const said = problem.remaining === undefined ? {} : { remaining: held.left };
    return new RateLimitError({ ...problem, ...said }, requestId, seconds);
  }

  /** Counts a request that was granted: less is left for others. */
  spend(surface: Surface, cost: number): void {
    for (const hold of this.#held.get(surface) ?? []) hold.left = Math.max(0, hold.left - cost);
  }

  /** Reads the RateLimit headers of a response. */
  note(surface: Surface, headers: Headers): void {
    if (!this.#paced || !headers.has("ratelimit")) return;
    const intervalMs = intervalOf(headers);
    // Turns that were taken in an earlier window delay nothing.
    if (intervalMs === 0) return void this.#pace.delete(surface);
    const next = this.#pace.get(surface)?.next ?? performance.now() + intervalMs;
    this.#pace.set(surface, { intervalMs, next });
  }

  /** Takes the next turn for this surface, and as many after it as the request costs. @returns the milliseconds until then. */
  turn(surface: Surface, cost = 1): number {
    const pace = this.#pace.get(surface);
    if (pace === undefined) return 0;
    const now = performance.now();
    const turn = Math.max(now, pace.next);
    pace.next = turn + cost * pace.intervalMs;
    return turn - now;
  }
}

/**
 * Returns the milliseconds between two requests that use up the rest of a limit exactly at the end of its window. 0 while
 * at least half of every limit is left, and when nothing is left: then the response says how long to wait.
 */
function intervalOf(headers: Headers): number {
  const quotas = parametersIn(headers.get("ratelimit-policy"));
  const limits = parametersIn(headers.get("ratelimit"));
  const [, grant] = [...limits].find(([name]) => name.startsWith("grant")) ?? [];
  const granted = grant?.get("r") ?? 0;
  const intervals = [...limits].map(([name, limit]) => {
    const left = (limit.get("r") ?? 0) + granted;
    const seconds = limit.get("t");
    const quota = quotas.get(name)?.get("q") ?? 0;
    return seconds === undefined || left === 0 || left >= quota / 2 ? 0 : (seconds * 1000) / left;
  });
  return Math.max(0, ...intervals);
}

/** Parses `"key-create";r=90;t=812, …` (draft-ietf-httpapi-ratelimit-headers-11) to numbers by name. */
function parametersIn(header: string | null): Map<string, Map<string, number>> {
  const found = new Map<string, Map<string, number>>();
  for (const item of (header ?? "").split(",")) {
    const [name = "", ...parameters] = item.trim().split(";");
    const pairs = parameters.map((parameter) => parameter.trim().split("="));
    found.set(name.replaceAll('"', ""), new Map(pairs.map(([key = "", value]) => [key, Number(value)])));
  }
  return found;
}
