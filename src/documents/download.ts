import { once } from "node:events";
import type { Readable } from "node:stream";
import contentDisposition from "content-disposition";
import { contentTag } from "../candidates/render.ts";
import type { Input } from "../api/endpoint.ts";
import { BinaryAnswer } from "../http/answer.ts";
import { problem } from "../problems.ts";
import { rangeOf } from "../content/range.ts";
import type { DocumentContent } from "./service.ts";

/**
 * A document's bytes as an answer, whole or in part (RFC 9110, 13 and 14). They are a stranger's: a browser is to save them,
 * never to show, guess at or run them.
 * @throws problems range_not_satisfiable, store_unavailable (nothing has gone out yet).
 */
export async function download(
  { document, content, open }: DocumentContent,
  { header, clientHas }: Pick<Input<unknown, unknown, unknown>, "header" | "clientHas">,
): Promise<BinaryAnswer> {
  const { size, content_type } = content;
  const tag = contentTag(content);
  const common = {
    ETag: tag,
    "Accept-Ranges": "bytes",
    "Cache-Control": "private, no-cache",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Content-Disposition": attachment(content.filename ?? document.name),
  };
  if (clientHas(tag)) return new BinaryAnswer(304, common);
  const whole = { ...common, "Content-Type": content_type, "Content-Length": String(size) };
  // A range of another version would be mixed into what the client has of this one.
  const ifRange = header("if-range");
  const range = ifRange === undefined || ifRange === tag ? rangeOf(header("range"), size) : undefined;
  if (range === undefined) return new BinaryAnswer(200, whole, await begun(open({ start: 0, end: size })));
  if (range === "unsatisfiable") {
    throw problem("range_not_satisfiable", `The content has ${size} bytes; the range lies outside.`, {
      headers: { "Content-Range": `bytes */${size}` },
    });
  }
  const { start, end } = range;
  const part = {
    ...whole,
    "Content-Length": String(end - start),
    "Content-Range": `bytes ${start}-${end - 1}/${size}`,
  };
  return new BinaryAnswer(206, part, await begun(open(range)));
}

/** The bytes, once the first of them are there: until then a store that fails can still be told of. */
async function begun(bytes: Readable): Promise<Readable> {
  await once(bytes, "readable");
  return bytes;
}

/** Characters that a file's name must not have where it is saved: separators, controls, and what turns text around. */
const UNSAFE = /[\p{Cc}/\\\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;

/** RFC 6266, with filename* (RFC 8187) for what is not Latin-1. A name of only dots would be a folder's. */
function attachment(filename: string): string {
  return contentDisposition(filename.toWellFormed().replaceAll(UNSAFE, "_").replace(/^\.+$/, "_"));
}
