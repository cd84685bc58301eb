import { problem } from "../problems.ts";

/** A body may have this many chunks, whatever their sizes. A client that sends each token of its JSON has a few thousand. */
const FREE = 10_000;
/** What further chunks hold at least on average, in bytes. */
const LEAST_BYTES = 64;

/**
 * Bounds the number of a body's chunks. Each costs some microseconds and hundreds of bytes, however small it is: without a
 * bound, 1 MiB in chunks of one byte takes three seconds of CPU and 370 MB.
 * @returns a function to call with each chunk. @throws problem malformed_request
 */
export function chunkBound(): (chunk: Uint8Array) => void {
  let allowed = FREE * LEAST_BYTES;
  return ({ length }) => {
    allowed += length - LEAST_BYTES;
    if (allowed < 0)
      throw problem(
        "malformed_request",
        `The body comes in more than ${FREE} chunks of fewer than ${LEAST_BYTES} bytes. Send it in larger chunks, or with a Content-Length.`,
      );
  };
}
