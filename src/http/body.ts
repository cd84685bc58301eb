import type { IncomingMessage } from "node:http";
import { finished } from "node:stream";
import { MIMEType } from "node:util";
import { TimeLimit } from "../infra/time-limit.ts";
import { problem } from "../problems.ts";
import { parseBody } from "./json.ts";

/** Maximum size of a JSON body, in bytes. Larger content is sent as multipart or as raw bytes. */
export const MAX_JSON_BYTES = 1024 * 1024;

/** Maximum length of a Content-Type, in characters. Node's parser takes quadratic time for spaces. */
const MAX_TYPE_LENGTH = 255;

/** UTF-8, its alias csUTF8 (both of the IANA registry), and what many clients write. */
const UTF_8 = /^(?:cs)?utf-?8$/i;

/** Number of chunks of any size that a body may have. A client that sends each token of its JSON has a few thousand. */
const FREE_CHUNKS = 10_000;
/** Minimum size of further chunks on average, in bytes. */
const MIN_CHUNK_BYTES = 64;

/**
 * Reads and parses a JSON body.
 * @param types accepted media types, without parameters.
 * @param timeoutMs maximum time until the whole body has arrived.
 * @param optional true if a chunked body of no bytes counts as {}. (With Content-Length 0 there is no body: see `hasBody`.)
 * @throws problems payload_too_large, unsupported_media_type, malformed_json, malformed_request, request_timeout,
 * validation_failed (text that is not Unicode). Throws ECONNRESET if the client disconnects.
 */
export async function readJson(
  req: IncomingMessage,
  { types, timeoutMs, optional }: { types: readonly string[]; timeoutMs: number; optional: boolean },
): Promise<unknown> {
  const bytes = await readBytes(req, timeoutMs, MAX_JSON_BYTES);
  if (bytes.length === 0 && optional) return {};
  if (bytes.length === 0) throw problem("malformed_json", "The body is empty. Send a JSON object, at least {}.");
  checkMediaType(req, types);
  return parseBody(bytes);
}

/** Returns whether the request has a body (RFC 9112, 6.3). */
export function hasBody(req: IncomingMessage): boolean {
  return req.headers["transfer-encoding"] !== undefined || Number(req.headers["content-length"] ?? 0) > 0;
}

/** @throws problem unsupported_media_type, which names the accepted media types. */
export function checkMediaType(req: IncomingMessage, types: readonly string[]): void {
  checkContentEncoding(req);
  const type = contentTypeOf(req);
  if (type !== undefined && types.includes(type.essence) && UTF_8.test(type.params.get("charset") ?? "utf-8")) return;
  const given = req.headers["content-type"] ?? "";
  const declared = given === "" ? "has no Content-Type" : `is ${JSON.stringify(given.slice(0, 100))}`;
  throw problem("unsupported_media_type", `The body ${declared}. Send ${types.join(" or ")} in UTF-8.`);
}

/** @throws problem unsupported_media_type if the body is compressed or encoded in any other way. */
export function checkContentEncoding(req: IncomingMessage): void {
  const encoding = req.headers["content-encoding"];
  if (encoding === undefined || encoding.toLowerCase() === "identity") return;
  const detail = "Encoded bodies are not accepted. Send the body uncompressed, without Content-Encoding.";
  throw problem("unsupported_media_type", detail);
}

/** Returns the Content-Type; undefined if it is missing or malformed. Its `essence` is in lower case, without parameters. */
export function contentTypeOf(req: IncomingMessage): MIMEType | undefined {
  const text = req.headers["content-type"] ?? "";
  if (text.length > MAX_TYPE_LENGTH) return undefined;
  try {
    return new MIMEType(text);
  } catch {
    return undefined;
  }
}

/**
 * Reads the whole body. If that fails, the rest is discarded: unread bytes would block the connection.
 * @throws as `readJson`, apart from what depends on the body's type and text.
 */
export async function readBytes(req: IncomingMessage, timeoutMs: number, maxBytes: number): Promise<Buffer> {
  if (Number(req.headers["content-length"] ?? 0) > maxBytes) throw tooLarge("The JSON body", maxBytes);
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const checkChunk = chunkCheck();
    let size = 0;
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      const fault = size > maxBytes ? tooLarge("The JSON body", maxBytes) : checkChunk(chunk);
      if (fault !== undefined) end(fault);
    };
    const end = (error?: Error | null): void => {
      late.clear();
      forget();
      req.off("data", take).resume();
      if (error) reject(error);
      else resolve(Buffer.concat(chunks));
    };
    const reason = `The body was still incomplete after ${timeoutMs / 1000} seconds.`;
    const late = new TimeLimit(timeoutMs, () => end(incomplete(reason)));
    const forget = finished(req, { writable: false }, end);
    req.on("data", take);
  });
}

/**
 * Bounds the number of a body's chunks. Each costs some microseconds and hundreds of bytes, however small it is: without a
 * bound, 1 MiB in chunks of one byte takes three seconds of CPU and 370 MB.
 * @returns a function to call with each chunk. It returns problem malformed_request for the first one too many.
 */
export function chunkCheck(): (chunk: Uint8Array) => Error | undefined {
  let allowed = FREE_CHUNKS * MIN_CHUNK_BYTES;
  return ({ length }) => {
    allowed += length - MIN_CHUNK_BYTES;
    if (allowed >= 0) return undefined;
    const fault = `The body comes in more than ${FREE_CHUNKS} chunks of fewer than ${MIN_CHUNK_BYTES} bytes.`;
    return problem("malformed_request", `${fault} Send it in larger chunks, or with a Content-Length.`);
  };
}

/** Makes the problem of a body that stopped arriving. The connection ends with it. */
export function incomplete(reason: string): Error {
  return problem("request_timeout", `${reason} Send it again.`, { headers: { Connection: "close" } });
}

export function tooLarge(what: string, maxBytes: number): Error {
  return problem("payload_too_large", `${what} is too large. Send at most ${maxBytes} bytes.`);
}
