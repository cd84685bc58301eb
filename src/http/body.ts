import type { IncomingMessage } from "node:http";
import { finished } from "node:stream";
import { MIMEType } from "node:util";
import type { StoredFile } from "../content/file.ts";
import { TimeLimit } from "../infra/time-limit.ts";
import { listed, problem } from "../problems.ts";
import { chunkBound } from "./chunks.ts";
import { parseJson } from "./json.ts";

/** Largest JSON body, in bytes. Larger content is sent as multipart or as raw bytes. */
export const MAX_JSON_BYTES = 1024 * 1024;

/** Longest Content-Type that is read, in characters. Node's parser takes quadratic time for spaces. */
const MAX_TYPE_LENGTH = 255;

/** UTF-8, its alias csUTF8 (both of the IANA registry), and what many clients write. */
const UTF_8 = /^(?:cs)?utf-?8$/i;

export interface ReadBody {
  readonly body: unknown;
  readonly file: StoredFile | undefined;
  /** Equal for bodies that differ only in JSON whitespace, or in a form's boundary or the order of its parts. */
  readonly fingerprint: string;
}

export interface BodyRules {
  /** Accepted media types, without parameters. */
  types: readonly string[];
  /** Maximum time until the whole body has arrived, in milliseconds. */
  timeoutMs: number;
  /** Whether a chunked body of no bytes counts as {}. (A request with Content-Length 0 has no body: see `hasBody`.) */
  optional: boolean;
}

/**
 * Reads and parses a JSON body.
 * @throws problems payload_too_large, unsupported_media_type, malformed_json, request_timeout, validation_failed (text
 * that is not Unicode). Throws ECONNRESET if the client disconnects.
 */
export async function readJson(req: IncomingMessage, { types, timeoutMs, optional }: BodyRules): Promise<unknown> {
  const declared = Number(req.headers["content-length"] ?? 0);
  if (declared > MAX_JSON_BYTES) throw tooLarge();
  const bytes = await readBytes(req, timeoutMs);
  if (bytes.length === 0 && optional) return {};
  if (bytes.length === 0) throw problem("malformed_json", "The body is empty. Send a JSON object, at least {}.");
  checkMediaType(req, types);
  const { value, faults } = parseJson(bytes);
  if (faults.length > 0)
    throw problem("validation_failed", "The body contains text that is not Unicode. Remove the lone surrogates.", {
      errors: listed(faults),
    });
  return value;
}

/** Returns whether the request has a body (RFC 9112, 6.3). */
export function hasBody(req: IncomingMessage): boolean {
  return req.headers["transfer-encoding"] !== undefined || Number(req.headers["content-length"] ?? 0) > 0;
}

/** @throws problem unsupported_media_type, which names the accepted media types. */
export function checkMediaType(req: IncomingMessage, types: readonly string[]): void {
  refuseEncoding(req);
  const given = req.headers["content-type"] ?? "";
  const mediaType = parseMediaType(given);
  const charset = mediaType?.params.get("charset") ?? "utf-8";
  if (mediaType === undefined || !types.includes(mediaType.essence) || !UTF_8.test(charset)) {
    const declared = given === "" ? "has no Content-Type" : `is ${JSON.stringify(given.slice(0, 100))}`;
    throw problem("unsupported_media_type", `The body ${declared}. Send ${types.join(" or ")} in UTF-8.`);
  }
}

/** @throws problem unsupported_media_type if the body is compressed or encoded in any other way. */
export function refuseEncoding(req: IncomingMessage): void {
  const encoding = req.headers["content-encoding"];
  if (encoding === undefined || encoding.toLowerCase() === "identity") return;
  throw problem(
    "unsupported_media_type",
    "Encoded bodies are not accepted. Send the body uncompressed, without Content-Encoding.",
  );
}

/** Returns the body's media type in lower case, without parameters. Undefined if it is missing or malformed. */
export function mediaTypeOf(req: IncomingMessage): string | undefined {
  return parseMediaType(req.headers["content-type"] ?? "")?.essence;
}

/** Returns the boundary of a form. Undefined or empty if Content-Type has none. */
export function boundaryOf(req: IncomingMessage): string | undefined {
  return parseMediaType(req.headers["content-type"] ?? "")?.params.get("boundary") ?? undefined;
}

function parseMediaType(text: string): MIMEType | undefined {
  if (text.length > MAX_TYPE_LENGTH) return undefined;
  try {
    return new MIMEType(text);
  } catch {
    return undefined;
  }
}

/** Reads the whole body. If that fails, the rest is discarded: unread bytes would block the connection. */
function readBytes(req: IncomingMessage, timeoutMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const bound = chunkBound();
    let size = 0;
    const take = (chunk: Buffer): void => {
      try {
        size += chunk.length;
        if (size > MAX_JSON_BYTES) throw tooLarge();
        bound(chunk);
        chunks.push(chunk);
      } catch (error) {
        end(error as Error);
      }
    };
    const end = (error?: Error | null): void => {
      late.clear();
      forget();
      req.off("data", take).resume();
      if (error) reject(error);
      else resolve(Buffer.concat(chunks));
    };
    const late = new TimeLimit(timeoutMs, () => end(incomplete(timeoutMs)));
    const forget = finished(req, { writable: false }, end);
    req.on("data", take);
  });
}

function incomplete(timeoutMs: number): Error {
  return problem("request_timeout", `The body was still incomplete after ${timeoutMs / 1000} seconds. Send it again.`, {
    headers: { Connection: "close" },
  });
}

function tooLarge(): Error {
  return problem("payload_too_large", `The JSON body is too large. Send at most ${MAX_JSON_BYTES} bytes.`);
}
