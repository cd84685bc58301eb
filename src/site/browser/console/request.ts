import pLimit from "p-limit";
import type { Refusal, Result } from "./result.ts";

/** A day, in seconds. A proxy may name any number; a timer and a date would overflow. */
const MAX_RETRY_AFTER = 86_400;

export type Read<T> = (response: Response) => Promise<T>;

/** Sends a request to this origin. Never throws. */
export type Send = <T>(path: string, read: Read<T>, method?: "GET" | "POST") => Promise<Result<T>>;

interface Sender {
  readonly key: string;
  /** Maximum time for the whole response. */
  readonly timeoutMs: number;
  /** Ends the request early, or keeps it from being sent. */
  readonly signal: AbortSignal;
}

/** The page sends one request at a time. */
const inTurn = pLimit(1);

/** Returns what sends requests with a key. The browser keeps no copy of a response, because that is personal data. */
export function sender({ key, timeoutMs, signal }: Sender): Send {
  return (path, read, method = "GET") =>
    inTurn(async () => {
      try {
        const response = await fetch(path, {
          method,
          headers: { Authorization: `Bearer ${key}` },
          cache: "no-store",
          credentials: "omit",
          redirect: "error",
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        });
        if (!response.ok) return { kind: "refused", refusal: await refusalOf(response) };
        return { kind: "ok", body: await read(response) };
      } catch {
        return { kind: "unreachable" };
      }
    });
}

export async function json<T>(response: Response): Promise<T> {
  const body: T = await response.json();
  return body;
}

/**
 * Reads bytes as a file of this type, whatever the response says: they may come from a stranger, and the browser would
 * open HTML as a page of this origin.
 */
export function bytesOf(type: "application/pdf" | "application/octet-stream"): Read<Blob> {
  return async (response) => new Blob([await response.arrayBuffer()], { type });
}

/** A proxy in between may send a body that is not a problem document. */
async function refusalOf(response: Response): Promise<Refusal> {
  const { status, headers } = response;
  const seconds = Number(headers.get("Retry-After") ?? NaN);
  const body: unknown = await response.json().catch(() => null);
  const problem: Record<string, unknown> = typeof body === "object" ? { ...body } : {};
  const textOf = (name: string, fallback: string) => {
    const value = problem[name];
    return typeof value === "string" ? value : fallback;
  };
  return {
    status,
    code: textOf("code", "unknown"),
    title: textOf("title", `The response has the status ${status}`),
    detail: textOf("detail", ""),
    requestId: headers.get("X-Request-Id") ?? "",
    retryAfter: seconds >= 0 ? Math.min(seconds, MAX_RETRY_AFTER) : undefined,
  };
}
