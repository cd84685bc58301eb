import type { IncomingMessage } from "node:http";
import { finished, Transform } from "node:stream";
import { TimeLimit } from "../infra/time-limit.ts";
import { invalid, problem } from "../problems.ts";
import { chunkBound } from "./chunks.ts";

export interface IncomingRules {
  /** Largest body, in bytes. */
  maxBytes: number;
  /** Largest file, in bytes. The refusal states it. */
  maxFileBytes: number;
  /** Longest wait for the client's next bytes, in milliseconds. Waiting for the service's own store does not count. */
  timeoutMs: number;
}

/**
 * Streams the body of a request as it arrives. Fails with payload_too_large, malformed_request (tiny chunks),
 * request_timeout, or ECONNRESET if the client disconnects. Once it has ended or is destroyed, the rest of the body is
 * discarded, so that the connection can answer.
 */
export function incoming(req: IncomingMessage, { maxBytes, maxFileBytes, timeoutMs }: IncomingRules): Transform {
  const bound = chunkBound();
  let size = 0;
  const bytes = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      stalled.restart();
      size += chunk.length;
      if (size > maxBytes) return done(tooLarge(maxFileBytes));
      try {
        bound(chunk);
      } catch (error) {
        return done(error as Error);
      }
      done(null, chunk);
    },
  });
  const stalled = new TimeLimit(timeoutMs, () => {
    if (bytes.writableNeedDrain || req.complete) stalled.restart();
    else bytes.destroy(stall(timeoutMs));
  });
  // Unlike the event `error`, it also tells if the client left before this was called.
  finished(req, (error) => void (error && bytes.destroy(error)));
  bytes.on("error", () => undefined); // the reader gets the error, even if it starts reading later
  bytes.once("close", () => {
    stalled.clear();
    req.unpipe(bytes);
    req.resume();
  });
  return req.pipe(bytes);
}

/** @throws problem payload_too_large if Content-Length is already too large. */
export function refuseLarge(req: IncomingMessage, maxBytes: number, maxFileBytes: number): void {
  if (Number(req.headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxFileBytes);
}

export function tooLarge(maxFileBytes: number): Error {
  return problem("payload_too_large", `The file is too large. Send at most ${maxFileBytes} bytes.`);
}

export function invalidFile(pointer: string, detail: string): Error {
  return invalid(pointer, detail, `The file is not valid. ${pointer} ${detail}.`);
}

function stall(timeoutMs: number): Error {
  return problem(
    "request_timeout",
    `No data arrived for ${timeoutMs / 1000} seconds, and the request body was incomplete. Send it again.`,
    { headers: { Connection: "close" } },
  );
}
