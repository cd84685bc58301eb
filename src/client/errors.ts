import type { Fault, Problem } from "./types.gen.ts";

/** A response that refuses the request, or that the client does not understand. */
export class ProblemError extends Error {
  /** The HTTP status. */
  readonly status: number;
  /** Stable, for programs. `unexpected_answer` means that the response did not come from the service: see `message`. */
  readonly code: Problem["code"] | "unexpected_answer";
  /** What was wrong with the request, one entry for each fault. Empty for most codes. */
  readonly errors: readonly Fault[];
  /** Quote it when you contact support. */
  readonly requestId: string | undefined;
  /** The problem document, with the members that only this code has. */
  readonly problem: Partial<Problem>;

  constructor(status: number, problem: Partial<Problem>, requestId: string | undefined) {
    super(problem.detail ?? problem.title ?? `The response has the status ${status}.`);
    this.name = "ProblemError";
    this.status = status;
    this.code = problem.code ?? "unexpected_answer";
    this.errors = problem.errors ?? [];
    this.requestId = requestId;
    this.problem = problem;
  }
}

/** A limit was reached, and the wait would be longer than `maxWait`. */
export class RateLimitError extends ProblemError {
  /** Seconds to wait before the next request. */
  readonly retryAfter: number;
  /** The limit that was reached, for example `create`. */
  readonly surface: string | undefined;
  /** Whose limit it is: `account`, `key`, or `address` after many wrong keys. */
  readonly scope: string | undefined;
  /** If the request counted as several: as how many one may count now. Else 0. */
  readonly remaining: number;

  constructor(problem: Partial<Problem>, requestId: string | undefined, retryAfter: number) {
    super(429, problem, requestId);
    this.name = "RateLimitError";
    this.retryAfter = retryAfter;
    this.surface = problem.surface;
    this.scope = problem.scope;
    this.remaining = problem.remaining ?? 0;
  }
}

/** The service could not be reached, or the connection broke. `cause` is the error of `fetch`. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}

/** Reads the body of a response that is not 2xx. It may come from a gateway, so it may be anything. */
export async function errorOf(response: Response): Promise<ProblemError> {
  const problem = problemIn(await response.text()) ?? {
    detail: `The response has the status ${response.status} and is no problem document.${hintFor(response)}`,
  };
  if (response.status === 429) return refusalOf(response, problem);
  return new ProblemError(response.status, problem, requestIdOf(response));
}

/** Returns the error for a 429. Without Retry-After, its problem document says how long to wait, or else it is a second. */
export function refusalOf(response: Response, problem: Partial<Problem> = {}): RateLimitError {
  const said = typeof problem.retry_after === "number" ? problem.retry_after : 1;
  const seconds = Math.max(1, retryAfterOf(response.headers) ?? said);
  return new RateLimitError(problem, requestIdOf(response), seconds);
}

/** Returns an error for a response that does not come from the service, although its status is 2xx. */
export function unexpected(response: Response): ProblemError {
  const { status, headers } = response;
  const type = headers.get("content-type") ?? "no type";
  const detail = `The response has the status ${status}, but it is not JSON (${type}). Check baseUrl.`;
  return new ProblemError(status, { detail }, requestIdOf(response));
}

function requestIdOf({ headers }: Response): string | undefined {
  return headers.get("x-request-id") ?? undefined;
}

/** Returns the seconds that Retry-After asks for. It may be a number or a date (RFC 9110, 10.2.3). */
export function retryAfterOf(headers: Headers): number | undefined {
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

function problemIn(body: string): Partial<Problem> | undefined {
  try {
    const value: Partial<Problem> | null = JSON.parse(body);
    return typeof value?.code === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

function hintFor({ status, type, headers }: Response): string {
  const isRedirect = type === "opaqueredirect" || (status >= 300 && status < 400);
  if (isRedirect) return ` The server redirects to ${headers.get("location") ?? "another address"}. Check baseUrl.`;
  return status === 404 || status === 405 ? " Check baseUrl." : "";
}
