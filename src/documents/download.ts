import { once } from "node:events";
import type { Readable } from "node:stream";
import contentDisposition from "content-disposition";
import { contentTag } from "../candidates/render.ts";
import type { Input } from "../api/endpoint.ts";
import { BinaryResponse } from "../http/response.ts";
import { shown } from "../schema/visible-text.ts";
import { problem } from "../problems.ts";
import { rangeOf } from "../content/file.ts";
import type { DocumentContent } from "./service.ts";

/**
 * Sends a document's content, whole or in part (RFC 9110, 13 and 14). The content is untrusted, so the headers
 * make a browser save it instead of displaying, sniffing or running it.
 * @throws problems range_not_satisfiable, store_unavailable, both before anything is sent.
 */
export async function download(
  { document, content, open }: DocumentContent,
  { header, clientHas }: Pick<Input<unknown, unknown, unknown>, "header" | "clientHas">,
): Promise<BinaryResponse> {
  const { size, content_type } = content;
  const tag = contentTag(content);
  // RFC 6266, with filename* (RFC 8187) if the name is not Latin-1. A name made only of dots becomes `_`.
  const name = shown((content.filename ?? document.name).toWellFormed().replaceAll(UNSAFE, "_")).replace(/^\.*$/, "_");
  const common = {
    ETag: tag,
    "Accept-Ranges": "bytes",
    "Cache-Control": "private, no-cache",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Content-Disposition": contentDisposition(name),
  };
  if (clientHas(tag)) return new BinaryResponse(304, common);
  const whole = { ...common, "Content-Type": content_type, "Content-Length": String(size) };
  // Ignore the range if the content has changed since: the client would join parts of two versions.
  const ifRange = header("if-range");
  const range = ifRange === undefined || ifRange === tag ? rangeOf(header("range"), size) : undefined;
  if (range === undefined) return new BinaryResponse(200, whole, await withFirstBytes(open({ start: 0, end: size })));
  if (range === "unsatisfiable") {
    const detail = `The range lies outside the content, which has ${size} bytes. Send another range, or no Range header.`;
    throw problem("range_not_satisfiable", detail, { headers: { "Content-Range": `bytes */${size}` } });
  }
  const { start, end } = range;
  const part = {
    ...whole,
    "Content-Length": String(end - start),
    "Content-Range": `bytes ${start}-${end - 1}/${size}`,
  };
  return new BinaryResponse(206, part, await withFirstBytes(open(range)));
}

/** Waits for the first bytes: until they are sent, a failure of the store can still become a problem. */
async function withFirstBytes(bytes: Readable): Promise<Readable> {
  await once(bytes, "readable");
  return bytes;
}

/** Characters that are unsafe in the name of a saved file: path and line separators, controls, what turns text around. */
const UNSAFE = /[\p{Cc}/\\\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;
