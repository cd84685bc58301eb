import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { finished, Transform } from "node:stream";
import contentDisposition from "content-disposition";
import type { IncomingFile, StoredFile } from "../content/file.ts";
import { TimeLimit } from "../infra/time-limit.ts";
import { problem } from "../problems.ts";
import { isMediaType } from "../schema/media-type.ts";
import { checkContentEncoding, chunkCheck, contentTypeOf, incomplete, tooLarge } from "./body.ts";
import { checkTransferEncoding, filenameIn, headerValue, invalidFile } from "./mime.ts";
import { headerOf } from "./request.ts";

const NO_FORM = "Forms are not accepted here. Send the file's bytes as the body, with the file's own Content-Type.";

export interface UploadRules {
  /** Maximum size of a file, in bytes. */
  readonly maxFileBytes: number;
  /** Maximum wait for the client's next bytes, in milliseconds. Waiting for the service's own store does not count. */
  readonly timeoutMs: number;
  /** True if U+FFFD is text like any other: a browser sends UTF-8, and nobody could mend it. By default it is refused. */
  readonly takesAnyText?: boolean;
}

/** A body with a file that is being received. Read `file` first, then its stream to the end, then `fields`. */
export interface Upload {
  /** Resolves when the file begins to arrive; with undefined if the body ends without one. Rejects as `fields` does. */
  readonly file: Promise<IncomingFile | undefined>;
  /** Reads the rest of the body and returns the form's fields; of a raw body, none. */
  fields(): Promise<Record<string, unknown>>;
  /** Stops receiving. The rest of the body is discarded. */
  close(): void;
}

/**
 * Receives the whole body as a file. Its type is the Content-Type, and its name comes from Content-Disposition (RFC
 * 6266). A request without a body is an empty file.
 * @throws problems payload_too_large, unsupported_media_type, validation_failed. `file` fails with validation_failed if its
 * name cannot be decoded. The stream fails with payload_too_large, request_timeout, or ECONNRESET if the client
 * disconnects.
 */
export function openRaw(req: IncomingMessage, rules: UploadRules): Upload {
  checkLength(req, rules.maxFileBytes);
  checkContentEncoding(req);
  const mediaType = contentTypeOf(req)?.essence;
  if (mediaType === "multipart/form-data") throw problem("unsupported_media_type", NO_FORM);
  checkTransferEncoding(headerOf(req, "content-transfer-encoding"), "Content-Transfer-Encoding");
  // curl, wget, urllib and Java declare this by themselves for any body.
  const isDefault = mediaType === "application/x-www-form-urlencoded";
  const contentType = isDefault ? null : declaredType(req.headers["content-type"]);
  const disposition = dispositionOf(req);
  const stream = incoming(req, rules);
  const file = async () => {
    const { params } = disposition === undefined ? { params: {} } : await headerValue(disposition);
    return { filename: filenameIn(params, "Content-Disposition"), contentType, stream };
  };
  return { file: file(), fields: () => Promise.resolve({}), close: () => void stream.destroy() };
}

/** Identifies what was sent, whatever the form's boundary and the order of its parts. */
export function fingerprintOf(fields: Record<string, unknown>, file: StoredFile | undefined): string {
  const sorted = Object.entries(fields).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([sorted, file === undefined ? null : [file.sha256, file.filename, file.contentType]]);
}

/** @throws problem validation_failed if the Content-Disposition is malformed. */
function dispositionOf(req: IncomingMessage): string | undefined {
  const header = req.headers["content-disposition"];
  if (header === undefined) return undefined;
  try {
    contentDisposition.parse(header);
    return asUtf8(header);
  } catch {
    const example = "attachment; filename*=UTF-8''na%C3%AFve.txt";
    throw invalidFile("Content-Disposition", `must follow RFC 6266, for example ${example}`);
  }
}

/** Decodes a header as UTF-8 if its bytes are UTF-8, as those of many clients are. Node decodes headers as Latin-1. */
function asUtf8(text: string): string {
  if (!/^[\x00-\xff]*$/.test(text)) return text; // oxlint-disable-line no-control-regex -- one byte per character
  const bytes = Buffer.from(text, "latin1");
  return isUtf8(bytes) ? bytes.toString() : text;
}

/** @throws problem unsupported_media_type if a type is declared but is none. */
export function declaredType(text: string | null | undefined): string | null {
  if (!text) return null;
  if (isMediaType(text)) return text;
  const detail = "The file's Content-Type is not a media type. Send one, such as application/pdf.";
  throw problem("unsupported_media_type", detail);
}

/**
 * Streams the body of a request as it arrives. Fails with payload_too_large, malformed_request (tiny chunks),
 * request_timeout, or ECONNRESET if the client disconnects. Once it has ended or is destroyed, the rest of the body is
 * discarded, so that the connection can carry the response.
 * @param maxBytes maximum size of the whole body. A refusal states `maxFileBytes` all the same.
 */
export function incoming(req: IncomingMessage, { maxFileBytes, timeoutMs }: UploadRules, maxBytes = maxFileBytes) {
  const checkChunk = chunkCheck();
  let size = 0;
  const bytes = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      stalled.restart();
      size += chunk.length;
      const fault = size > maxBytes ? tooLarge("The file", maxFileBytes) : checkChunk(chunk);
      if (fault === undefined) done(null, chunk);
      else done(fault);
    },
  });
  const reason = `No data arrived for ${timeoutMs / 1000} seconds, and the request body was incomplete.`;
  const stalled = new TimeLimit(timeoutMs, () => {
    if (bytes.writableNeedDrain || req.complete) stalled.restart();
    else bytes.destroy(incomplete(reason));
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

/** @throws problem payload_too_large if Content-Length says that the body has more than `maxBytes`. */
export function checkLength(req: IncomingMessage, maxFileBytes: number, maxBytes = maxFileBytes): void {
  if (Number(req.headers["content-length"] ?? 0) > maxBytes) throw tooLarge("The file", maxFileBytes);
}
