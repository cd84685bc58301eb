import type { Answer, Refusal } from "./answer.ts";

/** A day, in seconds. A proxy may name any number; a timer and a date would overflow. */
const MAX_RETRY_AFTER = 86_400;

/** What a body is read as. */
type Read<T> = (response: Response) => Promise<T>;

export interface Asked<T> {
  readonly key: string;
  readonly path: string;
  readonly read: Read<T>;
  /** Longest wait for the whole answer. */
  readonly timeoutMs: number;
  /** Ends the request early, or keeps it from being sent. */
  readonly signal: AbortSignal;
}

/** Sends a GET request to this origin. Never throws. The browser keeps no copy, because the answer is personal data. */
export async function ask<T>({ key, path, read, timeoutMs, signal }: Asked<T>): Promise<Answer<T>> {
  try {
    const response = await fetch(path, {
      headers: { Authorization: `Bearer ${key}` },
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const { headers } = response;
    if (!response.ok) return { kind: "refused", refusal: await refusalOf(response), headers };
    return { kind: "answered", body: await read(response), headers };
  } catch {
    return { kind: "unreachable" };
  }
}

export async function json<T>(response: Response): Promise<T> {
  const body: T = await response.json();
  return body;
}

/**
 * Reads bytes as a file of this type, whatever the answer calls them: they may come from a stranger, and the browser would
 * open HTML as a page of this origin.
 */
export function bytesOf(type: "application/pdf" | "application/octet-stream"): Read<Blob> {
  return async (response) => new Blob([await response.arrayBuffer()], { type });
}

/** A proxy in between may answer with a body that is not a problem document. */
async function refusalOf(response: Response): Promise<Refusal> {
  const { status, headers } = response;
  const seconds = Number(headers.get("Retry-After") ?? NaN);
  const text = await response.text();
  const { code, title, detail } = parsed(text);
  return {
    status,
    code: textOr(code, "unknown"),
    title: textOr(title, `The service answered ${status}`),
    detail: textOr(detail, ""),
    requestId: headers.get("X-Request-Id") ?? "",
    retryAfter: seconds >= 0 ? Math.min(seconds, MAX_RETRY_AFTER) : undefined,
  };
}

function parsed(text: string): Record<string, unknown> {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? { ...body } : {};
  } catch {
    return {};
  }
}

function textOr(value: unknown, fallback: string): string {
  return typeof value === "string" ? value : fallback;
}

/** Runs one task after the other, in the order in which they came, so that the page has one request under way at most. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
