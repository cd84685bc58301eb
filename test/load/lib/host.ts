/** What a scenario needs from the program that runs it: k6 (test/load/k6/script.js) or Node (test/load/node/host.ts). */
export interface Host {
  /** Sends one request. Resolves even if there is no answer: then the status is 0. */
  exchange(request: HttpRequest): Promise<HttpAnswer>;
  /** Waits. Returns early if the run is stopped. */
  sleep(ms: number): Promise<void>;
  /** Prints a line for people. */
  say(line: string): void;
  /** Returns true once somebody has asked the run to stop (Ctrl-C). */
  stopped(): boolean;
  /** Called with the outcome of each request. */
  seen(outcome: Outcome): void;
}

export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** The surface that it charges, or "free". Names the request in reports. */
  readonly surface: string;
}

export interface HttpAnswer {
  /** 0 if there was no answer. */
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
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
  readonly surface: string;
  /** Index into the keys of the run. */
  readonly key: number;
  readonly verdict: Verdict;
  /** The window that charged or refused it, counted from the first window of the run. Undefined without the headers. */
  readonly window: number | undefined;
  /** What was wrong with the answer, in words. A request with a fault counts as failed. */
  readonly fault: string | undefined;
  readonly answer: HttpAnswer;
}

/** The settings of a run. Durations are in milliseconds. */
export interface Settings {
  readonly baseUrl: string;
  readonly keys: readonly string[];
  readonly surfaces: readonly string[];
  /** Window length that the operator expects. A deployment with another one is refused. */
  readonly windowSeconds: number | undefined;
  /** Requests in flight at once. */
  readonly connections: number;
  /** The run stops after this many requests. */
  readonly maxRequests: number;
  /** How long soak runs. */
  readonly durationMs: number;
  /** The longest a scenario may wait for a window to end. */
  readonly maxWaitMs: number;
  /** Whether to wait for a new window even if there is time left in this one. */
  readonly fresh: boolean;
  /** The slowest p99 that soak accepts; undefined for any. */
  readonly p99Ms: number | undefined;
}

/** The target or the settings do not fit the scenario. Nothing was proved and nothing failed. */
export class UsageError extends Error {}
