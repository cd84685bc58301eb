import { isUtf8 } from "node:buffer";
import { listed, problem } from "../problems.ts";
import { pointersTo } from "../schema/pointer.ts";

/**
 * Maximum values in a body: members of objects and items of lists, at every depth. A candidate with 200 documents and 50
 * references, each with all its fields and 50 members of metadata, has 15,000. All later work takes time in proportion to
 * the number of values: without this bound, 1 MiB could hold the event loop for a second.
 */
export const MAX_VALUES = 20_000;
const TOO_MANY_VALUES = `The body has too many values. Send at most ${MAX_VALUES} members and items in all.`;

/** Maximum nesting of lists and objects. Code that walks a body calls itself once for each level. */
export const MAX_DEPTH = 100;

/** Only an escape can put a lone surrogate into JSON text; UTF-8 cannot encode one. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

/** Parses a body, or an entry of one. @throws problems malformed_json, payload_too_large, validation_failed (lone surrogates) */
export function parseBody(bytes: Uint8Array): unknown {
  const { value, faults } = parseJson(bytes);
  if (faults.length === 0) return value;
  const detail = "The body contains text that is not Unicode. Remove the lone surrogates.";
  throw problem("validation_failed", detail, { errors: listed(faults) });
}

/**
 * Parses JSON text in UTF-8.
 * @returns the value, its number of members and items, and a fault for each text with a lone surrogate, which UTF-8 cannot
 * store.
 * @throws problems malformed_json, payload_too_large
 */
export function parseJson(bytes: Uint8Array, maxValues = MAX_VALUES) {
  if (!isUtf8(bytes)) throw malformed("The body is not UTF-8. Send JSON in UTF-8.");
  const text = new TextDecoder().decode(bytes); // without a byte order mark
  const { values, repeatedAt } = inspect(text, maxValues);
  const value = parse(text);
  if (repeatedAt !== undefined)
    throw malformed(`The body names a member twice, at ${placeOf(text, repeatedAt)}. Send each member once.`);
  const isIllFormed = (part: unknown) => typeof part === "string" && !part.isWellFormed();
  const pointers = SURROGATE_ESCAPE.test(text) ? pointersTo(value, isIllFormed) : [];
  const detail = "must be Unicode text, without lone surrogates";
  return { value, faults: pointers.map((pointer) => ({ pointer, detail })), values };
}

/**
 * Finds what JSON.parse does not report: the number of values, their depth, and where an object repeats a name (JSON.parse
 * drops the first). Comes first, because parsing 1 MiB of brackets takes 70 ms. Accepts text that is not JSON.
 */
function inspect(text: string, maxValues: number): { values: number; repeatedAt: number | undefined } {
  const open: Set<string>[] = []; // the names in each open object or list
  let values = 0;
  let [start, end] = [0, 0]; // of the last text
  let isFirst = false; // an opening bracket stands before
  let repeatedAt: number | undefined;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char <= SPACE) continue;
    if (char === CLOSE_LIST || char === CLOSE_OBJECT) open.pop();
    else if ((isFirst || char === COMMA) && ++values > maxValues) throw problem("payload_too_large", TOO_MANY_VALUES);
    isFirst = char === OPEN_LIST || char === OPEN_OBJECT;
    if (isFirst && open.push(new Set()) > MAX_DEPTH)
      throw malformed(`The body is nested too deeply. Send at most ${MAX_DEPTH} levels.`);
    if (char === QUOTE) {
      start = at;
      at = end = endOfText(text, at);
    } else if (char === COLON) {
      const name = nameIn(text.slice(start, end + 1));
      if (open.at(-1)?.has(name)) repeatedAt ??= start;
      open.at(-1)?.add(name);
    }
  }
  return { values, repeatedAt };
}

export const SPACE = 0x20;
export const [QUOTE, BACKSLASH, COMMA, COLON] = Buffer.from('"\\,:');
export const [OPEN_LIST, OPEN_OBJECT, CLOSE_LIST, CLOSE_OBJECT] = Buffer.from("[{]}");

/** Returns the index of the quote that ends the text. */
function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === QUOTE) return at;
    if (char === BACKSLASH) at++;
  }
  return text.length;
}

/** Returns the name without its escapes. */
function nameIn(token: string): string {
  if (!token.includes("\\")) return token.slice(1, -1);
  try {
    return String(JSON.parse(token));
  } catch {
    return token; // not JSON: parsing the body reports it
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /at position (\d+)/.exec(String(error))?.[1];
    // Does not repeat what the client sent: it may be personal.
    const reason =
      position === undefined
        ? "it ends too early, or contains a character that JSON does not allow"
        : `unexpected text at ${placeOf(text, Number(position))}`;
    throw malformed(`The body is not JSON: ${reason}. Send a JSON object.`);
  }
}

function placeOf(text: string, position: number): string {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < position; at = text.indexOf("\n", at + 1)) line++;
  return `line ${line}, column ${position - text.lastIndexOf("\n", position - 1)}`;
}

function malformed(detail: string): Error {
  return problem("malformed_json", detail);
}
