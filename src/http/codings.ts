import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from "node:zlib";
import { promisify } from "node:util";
import pLimit from "p-limit";
import { negotiate } from "./negotiate.ts";

/**
 * Content codings (RFC 9110, 8.4.1), the preferred first: at level 1, Brotli makes fewer bytes than gzip in half the time.
 */
export const CODINGS = ["br", "gzip", "identity"] as const;
export type Coding = (typeof CODINGS)[number];
export type Compression = Exclude<Coding, "identity">;

/**
 * Bytes (characters of a string) from which compression pays. A smaller answer fits into one TCP segment together with
 * its headers, so that compressing it costs 20 µs and saves nobody a packet.
 */
const WORTHWHILE = 1024;

/**
 * Bytes up to which the event loop compresses: 50 µs at most. node:zlib needs about 100 µs of the event loop to hand a
 * body to the thread pool and take it back.
 */
const AT_ONCE = 32 * 1024;

/**
 * Compresses on two of the four threads of the pool. Name look-ups and files use the same threads, and a page of 4 MiB
 * takes one for 4 to 7 ms.
 */
const inTurn = pLimit(2);

/**
 * Returns the codings that an Accept-Encoding header takes, the best first (RFC 9110, 12.5.3). Without the header that is
 * identity. If the header takes none of ours, the answer is sent without a coding too, so that is what this returns.
 */
export function codingsFor(header: string | undefined): [Coding, ...Coding[]] {
  const [best = "identity", ...others] = negotiate("accept-encoding", header, CODINGS);
  return [best, ...others];
}

export function isWorthwhile(body: Buffer | string): boolean {
  return body.length >= WORTHWHILE;
}

/**
 * Returns the coding for a body. A small one gets none, unless the header refuses identity. Negotiates only if it may
 * matter.
 */
export function codingOf(body: Buffer | string, header: string | undefined): Coding {
  if (header === undefined) return "identity";
  if (isWorthwhile(body)) return codingsFor(header)[0];
  if (!header.includes("q=0")) return "identity";
  const accepted = codingsFor(header);
  return accepted.includes("identity") ? "identity" : accepted[0];
}

/**
 * Compresses a whole body at level 1. Uses node:zlib because the body is complete: koa-compress would send it through a
 * stream in chunks, without Content-Length, and leave the entity tag as it is.
 * @param unwanted tells that nobody waits for the result any more. The body is then returned as it is.
 */
export async function compress(
  body: Buffer | string,
  coding: Compression,
  unwanted: () => boolean = () => false,
): Promise<Buffer | string> {
  const { options, now, later } = WAYS[coding];
  const settings = options(body.length);
  if (body.length <= AT_ONCE) return now(body, settings);
  return await inTurn(() => (unwanted() ? body : later(body, settings)));
}

/** `chunkSize` holds most results whole. With the default of 16 KiB, each further chunk is one more turn in the pool. */
const WAYS = {
  br: {
    options: (size: number) => ({
      chunkSize: chunkSize(size),
      params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_SIZE_HINT]: size },
    }),
    now: brotliCompressSync,
    later: promisify(brotliCompress),
  },
  gzip: {
    options: (size: number) => ({ chunkSize: chunkSize(size), level: 1 }),
    now: gzipSync,
    later: promisify(gzip),
  },
};

function chunkSize(size: number): number {
  return Math.max(1024, size >> 2);
}
