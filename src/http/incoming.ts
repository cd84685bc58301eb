import type { IncomingMessage } from "node:http";
import { finished, Transform } from "node:stream";
import { TimeLimit } from "../infra/time-limit.ts";
import { problem } from "../problems.ts";
import { chunkCheck, incomplete } from "./body.ts";

/** Limits of a body with a file. */
export interface IncomingRules {
  /** Maximum size of the body, in bytes. */
  maxBytes: number;
  /** Maximum size of a file, in bytes. The refusal states it. */
  maxFileBytes: number;
  /** Maximum wait for the client's next bytes, in milliseconds. Waiting for the service's own store does not count. */
  timeoutMs: number;
}

/**
 * Streams the body of a request as it arrives. Fails with payload_too_large, malformed_request (tiny chunks),
 * request_timeout, or ECONNRESET if the client disconnects. Once it has ended or is destroyed, the rest of the body is
 * discarded, so that the connection can carry the response.
 * @throws problem payload_too_large if Content-Length is already too large.
 */
export function incoming(req: IncomingMessage, { maxBytes, maxFileBytes, timeoutMs }: IncomingRules): Transform {
  if (Number(req.headers["content-length"] ?? 0) > maxBytes) throw tooLarge(maxFileBytes);
  const checkChunk = chunkCheck();
  let size = 0;
  const bytes = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      stalled.restart();
      size += chunk.length;
      const fault = size > maxBytes ? tooLarge(maxFileBytes) : checkChunk(chunk);
      if (fault === undefined) done(null, chunk);
      else done(fault);
    },
  });
  const stalled = new TimeLimit(timeoutMs, () => {
    if (bytes.writableNeedDrain || req.complete) stalled.restart();
    else {
      const seconds = timeoutMs / 1000;
      bytes.destroy(incomplete(`No data arrived for ${seconds} seconds, and the request body was incomplete.`));
    }
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

export function tooLarge(maxFileBytes: number): Error {
  return problem("payload_too_large", `The file is too large. Send at most ${maxFileBytes} bytes.`);
}
