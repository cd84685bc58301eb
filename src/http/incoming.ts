import type { IncomingMessage } from "node:http";
import { Transform } from "node:stream";
import { problem } from "../problems.ts";

export interface IncomingRules {
  /** Largest body, in bytes. */
  maxBytes: number;
  /** Largest file, in bytes: what the refusal names. */
  maxFileBytes: number;
  /** Longest wait for the client's next bytes, in milliseconds; waiting for our own store does not count. */
  timeoutMs: number;
}

/**
 * The body of a request as it arrives. It fails with payload_too_large, request_timeout, or ECONNRESET when the client goes
 * away. However it ends, or is destroyed, what is left of the body is read and dropped, so that the connection can answer.
 */
export function incoming(req: IncomingMessage, { maxBytes, maxFileBytes, timeoutMs }: IncomingRules): Transform {
  let size = 0;
  const bytes = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      stalled.refresh();
      size += chunk.length;
      if (size > maxBytes) done(tooLarge(maxFileBytes));
      else done(null, chunk);
    },
  });
  const stalled = setTimeout(() => {
    if (bytes.writableNeedDrain || req.complete) stalled.refresh();
    else bytes.destroy(stall(timeoutMs));
  }, timeoutMs);
  const gone = (error: Error) => bytes.destroy(error);
  req.once("error", gone);
  bytes.on("error", () => undefined); // whoever reads it meets the error; it may come before anyone does
  bytes.once("close", () => {
    clearTimeout(stalled);
    req.unpipe(bytes);
    req.resume();
  });
  return req.pipe(bytes);
}

/** @throws problem payload_too_large where Content-Length says so already. */
export function refuseLarge(req: IncomingMessage, maxBytes: number, maxFileBytes: number): void {
  if (Number(req.headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxFileBytes);
}

export function tooLarge(maxFileBytes: number): Error {
  return problem("payload_too_large", `A file may have at most ${maxFileBytes} bytes.`);
}

function stall(timeoutMs: number): Error {
  return problem("request_timeout", `Nothing came for ${timeoutMs / 1000} seconds, and the body was not here whole.`, {
    headers: { Connection: "close" },
  });
}
