import { Readable } from "node:stream";
import { promisify } from "node:util";
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from "node:zlib";
import type { Context } from "koa";
import pLimit from "p-limit";
import { jsonBytes } from "../infra/json-parts.ts";
import { codedTag, entityTag, keptTag, viewTag } from "./entity-tags.ts";
import { type Coding, codingsFor } from "./negotiate.ts";

/** A JSON response, ready to be sent or to be stored for replays. */
export interface JsonResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** JSON, in UTF-8 if it is bytes. It is never stored compressed: each client gets it in the coding that it accepts. */
  readonly body: Buffer | string;
  /** The candidate that it shows, if that may be another one than the request names. */
  readonly subject?: string;
  /** Compressed bodies, for a response that is sent again and again. Each is made when it is first asked for. */
  readonly coded?: CodedBodies;
}

type CodedBodies = Map<Coding, Promise<Buffer | string>>;

/** A response that a handler makes itself: bytes, or nothing at all. JSON in a Buffer is compressed, all else is not. */
export class BinaryResponse {
  readonly status: 200 | 204 | 206 | 304;
  readonly headers: Record<string, string>;
  /** Undefined for 204 and 304. */
  readonly body: Readable | Buffer | undefined;

  constructor(status: 200 | 204 | 206 | 304, headers: Record<string, string>, body?: Readable | Buffer) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

interface ResponseOptions {
  readonly location?: string | undefined;
  /** Members that change by the clock alone. */
  readonly volatile?: readonly string[] | undefined;
  /** What the ETag covers, if that is not the whole value. */
  readonly tagged?: object | undefined;
}

/** Returns the headers of a JSON response. Shared caches must not store it: it may contain personal data. */
export function jsonHeaders(tag: string) {
  return { ETag: tag, "Cache-Control": "private, no-cache", "Content-Type": "application/json" };
}

/** Creates a JSON response with its ETag. */
export async function jsonResponse(
  status: number,
  value: unknown,
  { location, volatile, tagged }: ResponseOptions = {},
): Promise<JsonResponse> {
  const text = jsonText(value, tagged);
  const { body, tag } = text instanceof Promise ? await text : text;
  const headers = jsonHeaders(volatile === undefined ? tag : viewTag(value, volatile));
  return { status, headers: location === undefined ? headers : { ...headers, Location: location }, body };
}

/** A value is rendered at once if its names and texts have up to this many characters, plus one for each value: 0.3 ms. */
const MAX_AT_ONCE = 64 * 1024;

/**
 * Returns a value as `JSON.stringify` writes it, with its entity tag. A small value becomes a string: the HTTP server sends
 * it in one chunk with the headers. A larger one, of up to 8 MiB, becomes bytes, in stretches between which other requests
 * are served.
 * @param tagged what the tag covers.
 */
export function jsonText(value: unknown, tagged: unknown = value) {
  if (remaining(value, MAX_AT_ONCE) < 0) return inStretches(value, tagged);
  const body = JSON.stringify(value);
  return { body, tag: entityTag(tagged === value ? body : JSON.stringify(tagged)) };
}

async function inStretches(value: unknown, tagged: unknown) {
  const body = await jsonBytes(value);
  return { body, tag: entityTag(tagged === value ? body : await jsonBytes(tagged)) };
}

/** Returns what a value leaves of a number of characters. Stops counting when it is below zero. */
function remaining(value: unknown, characters: number): number {
  if (typeof value === "string") return characters - value.length;
  let left = characters - 1;
  if (typeof value !== "object" || value === null) return left;
  if (Array.isArray(value)) {
    for (const item of value) if ((left = remaining(item, left)) < 0) break;
    return left;
  }
  for (const name in value)
    if ((left = remaining((value as Record<string, unknown>)[name], left - name.length)) < 0) break;
  return left;
}

/** Sends a response, or 304 to a GET whose client has this JSON already. @returns a promise if the response is compressed. */
export function send(ctx: Context, response: JsonResponse | BinaryResponse): Promise<void> | undefined {
  const { status, headers, body } = response;
  for (const name in headers) ctx.res.setHeader(name, headers[name]!);
  ctx.status = status;
  if (body instanceof Readable || headers["Content-Type"] !== "application/json") {
    ctx.body = body ?? null;
    ctx.status = status; // Koa changes the status of an empty body to 204
    return undefined;
  }
  if (!("Vary" in headers)) ctx.res.setHeader("Vary", "Accept-Encoding");
  const tag = headers["ETag"]!; // jsonResponse gives every JSON response one
  const kept = ctx.method === "GET" || ctx.method === "HEAD" ? keptTag(ctx.req.headers, tag) : undefined;
  if (body !== undefined && kept === undefined)
    return sendText(ctx, body, tag, "coded" in response ? response.coded : undefined);
  ctx.res.setHeader("ETag", kept ?? tag);
  ctx.status = 304;
  return undefined;
}

/** Minimum length of a body that is compressed. A smaller one fits into one TCP segment, so that nobody saves a packet. */
const MIN_COMPRESSED = 1024;

/**
 * Sends a whole text, whose type is already set, in the coding that Accept-Encoding prefers.
 * @param tag the entity tag of the text without a coding.
 * @returns a promise if the text is compressed.
 */
export function sendText(ctx: Context, text: Buffer | string, tag?: string, coded?: CodedBodies) {
  const { req, res } = ctx;
  const coding = codingOf(text, req.headers["accept-encoding"]);
  const isCodable = coding !== "identity" || text.length >= MIN_COMPRESSED;
  if (isCodable && !res.hasHeader("Vary")) res.setHeader("Vary", "Accept-Encoding");
  if (coding === "identity") {
    ctx.body = text;
    return undefined;
  }
  const body = coded?.get(coding) ?? compress(text, coding, () => coded === undefined && req.socket.destroyed);
  coded?.set(coding, body);
  return body.then((bytes) => {
    ctx.body = bytes;
    res.setHeader("Content-Encoding", coding);
    if (tag !== undefined) res.setHeader("ETag", codedTag(tag, coding));
  });
}

/** Returns the coding for a body. A small one gets none, unless the header refuses identity. */
export function codingOf({ length }: Buffer | string, header: string | undefined): Coding {
  const isSmall = length < MIN_COMPRESSED;
  if (header === undefined || (isSmall && !header.includes("q=0"))) return "identity";
  const accepted = codingsFor(header);
  return isSmall && accepted.includes("identity") ? "identity" : accepted[0];
}

/** Maximum length that the event loop compresses: 50 µs. To hand a body to the thread pool and take it back costs 100 µs. */
const MAX_COMPRESSED_AT_ONCE = 32 * 1024;

/**
 * Compresses on two of the four threads of the pool. Name lookups and files use the same threads, and a page of 8 MiB
 * takes one for 6 to 14 ms.
 */
const inTurn = pLimit(2);

const COMPRESSORS = {
  br: { now: brotliCompressSync, later: promisify(brotliCompress) },
  gzip: { now: gzipSync, later: promisify(gzip) },
};

/**
 * Compresses a whole body at level 1. Uses node:zlib because the body is complete: koa-compress would send it through a
 * stream in chunks, without Content-Length, and leave the entity tag as it is.
 * @param unwanted tells that nobody waits for the result any more. The body is then returned as it is.
 */
export async function compress(
  body: Buffer | string,
  coding: Exclude<Coding, "identity">,
  unwanted: () => boolean = () => false,
): Promise<Buffer | string> {
  const { now, later } = COMPRESSORS[coding];
  const size = body.length;
  const options = {
    chunkSize: Math.max(1024, size >> 2), // holds most results whole: each further chunk is one more turn in the pool
    level: 1,
    params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_SIZE_HINT]: size },
  };
  if (size <= MAX_COMPRESSED_AT_ONCE) return now(body, options);
  return await inTurn(() => (unwanted() ? body : later(body, options)));
}
