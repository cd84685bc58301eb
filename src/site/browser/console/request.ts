import pLimit from "p-limit";
import { refusalOf, type Result } from "./result.ts";

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
