import type { IncomingMessage } from "node:http";
import { TimeSlice } from "../infra/time-slice.ts";
import { invalid, Problem, problem } from "../problems.ts";
import { checkMediaType, contentTypeOf, hasBody, MAX_JSON_BYTES, readBytes } from "./body.ts";
import { parseJson } from "./json.ts";

/** Maximum size of a body with several entries, in bytes. Each entry may have as many as a body of its own. */
const MAX_BYTES = 8 * MAX_JSON_BYTES;
/** What may stand around the entries, in bytes. */
const AROUND = 64 * 1024;

const LINES = "application/x-ndjson";

/**
 * Reads a body of several entries, `{ NAME: [ … ] }` or one in each line (NDJSON), without parsing them: 8 MiB at once would
 * hold the event loop.
 * @param name of the member that lists the entries.
 * @param count the number of entries that the client has announced.
 * @param check parses each entry, in order. Its problems are left to whoever reads the entry, but malformed JSON in a list is a
 * problem of the whole body.
 * @returns the text of each entry, in UTF-8.
 * @throws problems as `readJson` does, and validation_failed for another number of entries.
 */
export async function readEntries(
  req: IncomingMessage,
  { name, count, timeoutMs }: { name: string; count: number; timeoutMs: number },
  check: (entry: Uint8Array) => void,
): Promise<Uint8Array[]> {
  if (!hasBody(req)) throw problem("malformed_json", `The request has no body. Send {"${name}": [ … ]}, or ${LINES}.`);
  const bytes = await readBytes(req, timeoutMs, Math.min(MAX_BYTES, count * MAX_JSON_BYTES + AROUND));
  checkMediaType(req, ["application/json", LINES]);
  const isLines = contentTypeOf(req)?.essence === LINES;
  const found = isLines ? linesOf(bytes, count) : await listIn(bytes, name, count);
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
  return found;
}

/** Returns the lines that are not blank, at most one more than `max`. */
function linesOf(bytes: Buffer, max: number): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let start = 0, end; start < bytes.length && lines.length <= max; start = end + 1) {
    end = bytes.indexOf(NEWLINE, start);
    if (end === -1) end = bytes.length;
    const line = bytes.subarray(start, end);
    if (!isBlank(line)) lines.push(line);
  }
  return lines;
}

const NEWLINE = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const [BACKSLASH, COMMA] = Buffer.from("\\,");
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from("[]{}");

/**
 * Finds the items of the list that is the object's only member, at most one more than `max`. What stands around them is parsed
 * as JSON, with 0 in the place of each item.
 */
async function listIn(bytes: Buffer, name: string, max: number): Promise<Uint8Array[]> {
  const items: Uint8Array[] = [];
  const around: Uint8Array[] = [];
  const slice = new TimeSlice();
  let depth = 0;
  let start = 0; // of the item, or of what stands around
  const takeItem = (end: number): void => {
    const item = bytes.subarray(start, end);
    if (!isBlank(item)) {
      items.push(item);
      around.push(ZERO);
    }
    start = end;
  };
  for (let at = 0; at < bytes.length && around.length <= 2 * max + 3; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = endOfText(bytes, at);
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (++depth === 2) {
        if (byte === OPEN_OBJECT) break; // no list
        around.push(bytes.subarray(start, at + 1));
        start = at + 1;
      }
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (depth-- === 2) takeItem(at);
    } else if (byte === COMMA && depth === 2) {
      takeItem(at);
      around.push(bytes.subarray(start, at + 1));
      start = at + 1;
      if (slice.isOver()) await slice.next();
    }
  }
  if (items.length > max) return items;
  around.push(bytes.subarray(start));
  checkAround(Buffer.concat(around), name);
  return items;
}

function isBlank(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at++) if (bytes[at]! > SPACE) return false;
  return true;
}

const ZERO = Buffer.from("0");

function endOfText(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(QUOTE, start + 1); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let before = at;
    while (bytes[before - 1] === BACKSLASH) before--;
    if ((at - before) % 2 === 0) return at;
  }
  return bytes.length;
}

function checkAround(bytes: Buffer, name: string): void {
  const advice = `Send {"${name}": [ … ]}, with a comma between the entries.`;
  let value: unknown;
  try {
    ({ value } = parseJson(bytes));
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "malformed_json") throw error;
    throw problem("malformed_json", `The body is not JSON outside of its entries. ${advice}`);
  }
  const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const [[only, list] = []] = members;
  if (members.length === 1 && only === name && Array.isArray(list)) return;
  throw invalid(`/${name}`, "must be the body's only member, and a list", `The body is not valid. ${advice}`);
}
