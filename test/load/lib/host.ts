import type { Surface } from "../../../src/limiter/surfaces.ts";

/** What a scenario needs from the program that runs it: k6 (test/load/k6.js) or Node (test/load/main.ts). */
export interface Host {
  /** Sends one request. Resolves even if there is no answer: then the status is 0. */
  exchange(request: HttpRequest): Promise<HttpAnswer>;
  /** Prints a line for people. */
  say(line: string): void;
}

/** What a request charges. `free` charges nothing. */
export type Charged = Surface | "free";

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Names the request in reports. */
  readonly surface: Charged;
}

export interface HttpAnswer {
  /** 0 if there was no answer. */
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Why there was no answer, if there was none. */
  readonly body: string;
  readonly ms: number;
}

/**
 * What became of a request. `admitted` was charged, whatever its status. `account` and `key` were refused by that limit.
 * `unknown` may or may not have been charged: a 503 limiter_unavailable, or no answer of the service at all. `rejected` was
 * answered before the limiter, so it was not charged. `free` charges nothing.
 */
export type Verdict = "admitted" | "account" | "key" | "unknown" | "rejected" | "free";

/** One request with its answer. */
export interface Outcome {
  readonly surface: Charged;
  /** Index into the keys of the run. */
  readonly key: number;
  readonly verdict: Verdict;
  /** The window that charged or refused it, counted from the first window of the run. Undefined without the headers. */
  readonly window: number | undefined;
  /** What was wrong with the answer, in words. A request with a fault counts as failed. */
  readonly fault: string | undefined;
  readonly answer: HttpAnswer;
}

/** The target or the settings do not fit the scenario. Nothing was proved and nothing failed. */
export class UsageError extends Error {}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
