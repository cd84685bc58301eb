import { visit } from "jsonc-parser";
import { type Fault, MAX_FAULTS, problem } from "../problems.ts";
import { shortToken } from "../schema/pointer.ts";

/**
 * Most values in one body: members of objects and items of lists, at every depth. A candidate with 200 documents and 50
 * references, each with all its fields and 50 members of metadata, has 15,000. Everything that is done with a body takes
 * its time from the number of its values, so without this bound 1 MiB could hold the event loop for a second.
 */
export const MAX_VALUES = 20_000;

/** Deepest nesting of lists and objects. Code that walks a body calls itself once for each level. */
export const MAX_DEPTH = 100;

/** Only an escape can put a lone surrogate into JSON text; UTF-8 cannot encode one. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;

export interface Parsed {
  readonly value: unknown;
  /** A fault for each text that is not Unicode, up to one more than an answer lists. */
  readonly faults: Fault[];
  /** How many members and items there are. */
  readonly values: number;
}

/**
 * Parses JSON text in UTF-8. Looks at its size before its contents.
 * @param maxValues refuses more values than that.
 * @throws problems malformed_json, payload_too_large
 */
export function parseJson(bytes: Uint8Array, maxValues = MAX_VALUES): Parsed {
  const { values, depth, members } = sizesOf(bytes);
  if (values > maxValues)
    throw problem(
      "payload_too_large",
      `The body has too many values. Send at most ${MAX_VALUES} members and items in all.`,
    );
  if (depth > MAX_DEPTH)
    throw problem("malformed_json", `The body is nested too deeply. Send at most ${MAX_DEPTH} levels.`);
  const text = decode(bytes);
  const value = parsed(text);
  if (countMembers(value) !== members) refuseRepeats(text); // JSON.parse has dropped a member
  return { value, faults: SURROGATE_ESCAPE.test(text) ? illFormed(value) : [], values };
}

/**
 * Counts what is in JSON text, in one pass over its bytes, which takes a millisecond or two for 1 MiB. Of text that is
 * not JSON it counts something, and the parser then refuses it.
 */
function sizesOf(bytes: Uint8Array): { values: number; depth: number; members: number } {
  let [values, members, depth, deepest] = [0, 0, 0, 0];
  let inText = false;
  let before: number | undefined; // the last byte that was neither text nor space
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (inText) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inText = false;
      continue;
    }
    if (byte <= SPACE) continue;
    if (byte === QUOTE) inText = true;
    else if (byte === COMMA) values++;
    else if (byte === COLON) members++;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values++;
      deepest = Math.max(deepest, ++depth);
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth--;
      if (before === OPEN_LIST || before === OPEN_OBJECT) values--; // it is empty
    }
    before = byte;
  }
  return { values, depth: deepest, members };
}

const SPACE = 0x20;
const [QUOTE, BACKSLASH, COMMA, COLON, NEWLINE] = Buffer.from('"\\,:\n');
const [OPEN_LIST, OPEN_OBJECT, CLOSE_LIST, CLOSE_OBJECT] = Buffer.from("[{]}");

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw problem("malformed_json", "The body is not UTF-8. Send JSON in UTF-8.");
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw problem("malformed_json", `The body is not JSON: ${reasonOf(text, error)}. Send a JSON object.`);
  }
}

/** Says where the parser stopped, without repeating what the client sent: it may be personal. */
function reasonOf(text: string, error: unknown): string {
  const position = /at position (\d+)/.exec(String(error))?.[1];
  if (position === undefined) return "it ends too early, or contains a character that JSON does not allow";
  let [line, start] = [1, 0];
  for (let at = 0; at < Number(position); at++) {
    if (text.charCodeAt(at) !== NEWLINE) continue;
    line++;
    start = at + 1;
  }
  return `unexpected text at line ${line}, column ${Number(position) - start + 1}`;
}

/** Counts the members of all objects in the value: fewer than in the text if one is there twice. */
function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object") count += countMembers(item);
    return count;
  }
  for (const member of Object.values(value)) {
    count++;
    if (typeof member === "object") count += countMembers(member);
  }
  return count;
}

/** Refuses objects with two members of the same name: JSON.parse would silently drop the first. */
function refuseRepeats(text: string): void {
  const open: Set<string>[] = [];
  visit(text, {
    onObjectBegin: () => void open.push(new Set()),
    onObjectEnd: () => void open.pop(),
    onObjectProperty(name, _offset, _length, line, column) {
      const names = open.at(-1);
      if (names?.has(name)) {
        throw problem(
          "malformed_json",
          `The body names a member twice, at line ${line + 1}, column ${column + 1}. Send each member once.`,
        );
      }
      names?.add(name);
    },
  });
}

/** Returns a fault for each lone surrogate, until an answer could list no more. UTF-8 cannot store them. */
function illFormed(value: unknown): Fault[] {
  const faults: Fault[] = [];
  const path: string[] = [];
  const fault = (): void => {
    const pointer = path.map((name) => `/${shortToken(name)}`).join("");
    faults.push({ pointer, detail: "must be Unicode text, without lone surrogates" });
  };
  const look = (part: unknown): void => {
    if (typeof part === "string" && !part.isWellFormed()) fault();
    if (typeof part !== "object" || part === null) return;
    for (const name of Object.keys(part)) {
      if (faults.length > MAX_FAULTS) return;
      path.push(name);
      if (!name.isWellFormed()) fault();
      look((part as Record<string, unknown>)[name]);
      path.pop();
    }
  };
  look(value);
  return faults;
}
