import { RateLimitError } from "./errors.ts";

/** What a request counts against. `free` counts against nothing. */
export type Surface = "create" | "list" | "reads" | "start" | "writes" | "pack" | "settings" | "free";

/** What the client knows about the limits from earlier responses, for each surface. */
export class KnownLimits {
  readonly #paced: boolean;
  readonly #held = new Map<Surface, { until: number; refusal: RateLimitError }>();
  readonly #pace = new Map<Surface, { intervalMs: number; next: number }>();

  /** @param paced whether to spread requests over the rest of a window once less than half of a limit is left. */
  constructor(paced: boolean) {
    this.#paced = paced;
  }

  /** Remembers a refusal, so that no request for this surface is sent before its Retry-After ends. */
  hold(surface: Surface, refusal: RateLimitError): void {
    const until = performance.now() + refusal.retryAfter * 1000;
    if (until > (this.#held.get(surface)?.until ?? 0)) this.#held.set(surface, { until, refusal });
  }

  /** Returns the refusal that is still in force, with the seconds that are left of it. */
  refusal(surface: Surface): RateLimitError | undefined {
    const held = this.#held.get(surface);
    if (held === undefined) return undefined;
    const left = (held.until - performance.now()) / 1000;
    if (left > 0) return new RateLimitError(held.refusal.problem, held.refusal.requestId, left);
    this.#held.delete(surface);
    return undefined;
  }

  /** Reads the RateLimit headers of a response. */
  note(surface: Surface, headers: Headers): void {
    if (!this.#paced || !headers.has("ratelimit")) return;
    const intervalMs = intervalOf(headers);
    if (intervalMs === 0) {
      this.#pace.delete(surface); // turns that were taken in an earlier window delay nothing
      return;
    }
    const next = this.#pace.get(surface)?.next ?? performance.now() + intervalMs;
    this.#pace.set(surface, { intervalMs, next });
  }

  /** Takes the next turn for this surface. @returns the milliseconds until then. */
  turn(surface: Surface): number {
    const pace = this.#pace.get(surface);
    if (pace === undefined) return 0;
    const now = performance.now();
    const turn = Math.max(now, pace.next);
    pace.next = turn + pace.intervalMs;
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
  const items = (header ?? "").split(",").map((item) => item.trim().split(";"));
  return new Map(
    items.map(([name = "", ...parameters]) => [
      name.replaceAll('"', ""),
      new Map(
        parameters.map((parameter) => parameter.trim().split("=")).map(([key = "", value]) => [key, Number(value)]),
      ),
    ]),
  );
}
