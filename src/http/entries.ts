import type { IncomingMessage } from "node:http";
import { TimeSlice } from "../infra/time-slice.ts";
import { invalid, Problem, problem } from "../problems.ts";
import { checkMediaType, contentTypeOf, hasBody, MAX_JSON_BYTES, readBytes } from "./body.ts";
import { BACKSLASH, CLOSE_LIST, CLOSE_OBJECT, COMMA, OPEN_LIST, OPEN_OBJECT, QUOTE, SPACE } from "./json.ts";

/** Maximum size of a body with several entries, in bytes, and of what may stand around them. */
const MAX_BYTES = 8 * MAX_JSON_BYTES;
const AROUND = 64 * 1024;
const LINES = "application/x-ndjson";

/**
 * Reads a body of `count` entries, `{ NAME: [ … ] }` or one in each line (NDJSON), without parsing them: 8 MiB at once would
 * hold the event loop.
 * @param check parses each entry, UTF-8, in order. What it throws is the entry's own problem; malformed JSON in a list is one of the
 * whole body.
 * @throws problems as `readJson` does, and validation_failed for another number of entries.
 */
export async function readEntries(
  req: IncomingMessage,
  { name, count, timeoutMs }: { name: string; count: number; timeoutMs: number },
  check: (entry: Uint8Array) => void,
): Promise<void> {
  if (!hasBody(req)) throw problem("malformed_json", `The request has no body. Send {"${name}": [ … ]}, or ${LINES}.`);
  const bytes = await readBytes(req, timeoutMs, Math.min(MAX_BYTES, count * MAX_JSON_BYTES + AROUND));
  checkMediaType(req, ["application/json", LINES]);
  const isLines = contentTypeOf(req)?.essence === LINES;
  const found = isLines ? await linesOf(bytes, count) : await listIn(bytes, name, count);
  if (found.length !== count) {
    const given = found.length > count ? "more" : found.length;
    const must = `must have ${count} ${count === 1 ? "entry" : "entries"}, as count says; it has ${given}`;
    throw invalid(`/${name}`, must, `The body ${must}. Nothing was changed.`);
  }
  const slice = new TimeSlice();
  for (const [index, entry] of found.entries()) {
    try {
      check(entry);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (!isLines && error.code === "malformed_json")
        throw problem(error.code, `In /${name}/${index}: ${error.message}`);
    }
    if (slice.isOver()) await slice.next();
  }
}

/** Returns the lines that are not blank, at most one more than `max`. */
async function linesOf(bytes: Buffer, max: number): Promise<Uint8Array[]> {
  const lines: Uint8Array[] = [];
  const slice = new TimeSlice();
  for (let at = 0, end; at < bytes.length && lines.length <= max; at = end + 1) {
    end = at; // of a blank
    if (bytes[at]! > SPACE) {
      end = bytes.indexOf(NEWLINE, at);
      if (end === -1) end = bytes.length;
      lines.push(bytes.subarray(at, end));
    } else if (at % 65_536 === 0 && slice.isOver()) await slice.next();
  }
  return lines;
}

const NEWLINE = 0x0a;

function isBlank(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at++) if (bytes[at]! > SPACE) return false;
  return true;
}

/** Finds the items of the list that is the object's only member, at most one more than `max`. */
async function listIn(bytes: Buffer, name: string, max: number): Promise<Uint8Array[]> {
  const malformed = problem("malformed_json", `The body is not JSON of the form {"${name}": [ … ]}.`);
  const open = bytes.subarray(0, AROUND).indexOf(OPEN_LIST!);
  const isOpen = new RegExp(`^\\uFEFF?\\s*\\{\\s*"${name}"\\s*:\\s*$`).test(bytes.toString("utf8", 0, open));
  if (open === -1 || !isOpen) throw malformed;
  const items: Buffer[] = [];
  const slice = new TimeSlice();
  let depth = 1;
  for (let at = open + 1, start = at; at < bytes.length && items.length <= max; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfText(bytes, at);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++;
    else if (depth > 1 && (byte === CLOSE_LIST || byte === CLOSE_OBJECT)) depth--;
    else if (depth === 1 && (byte === COMMA || byte === CLOSE_LIST)) {
      items.push(bytes.subarray(start, at));
      start = at + 1;
      if (slice.isOver()) await slice.next();
      if (byte === COMMA) continue;
      const close = bytes.indexOf(CLOSE_OBJECT!, start);
      const isClosed = close !== -1 && isBlank(bytes.subarray(start, close)) && isBlank(bytes.subarray(close + 1));
      if (!isClosed || (items.length > 1 && items.some(isBlank))) throw malformed;
      return isBlank(items[0]!) ? [] : items;
    }
  }
  if (items.length > max) return items;
  throw malformed;
}

/** Returns the index of the quote that ends the text. */
function endOfText(bytes: Buffer, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) return at;
    if (bytes[at] === BACKSLASH) at++;
  }
  return bytes.length;
}
