import type { IncomingMessage } from "node:http";
import { setTimeout } from "node:timers/promises";
import { MIMEType } from "node:util";
import { visit } from "jsonc-parser";
import getRawBody from "raw-body";
import type { StoredFile } from "../content/file.ts";
import { type Fault, problem } from "../problems.ts";
import { escapePointer } from "../schema/pointer.ts";

/** Largest JSON body, in bytes. Bigger content goes as multipart or as raw bytes. */
export const MAX_JSON_BYTES = 1024 * 1024;

/** A body that has been read. */
export interface ReadBody {
  readonly body: unknown;
  readonly file: StoredFile | undefined;
  /** The same for the same body, however it was cut into bytes. */
  readonly fingerprint: string;
}

export interface BodyRules {
  /** Media types taken, without parameters. */
  types: readonly string[];
  /** Longest the whole body may take, in milliseconds. */
  timeoutMs: number;
  /** One of no bytes (chunked: a length of 0 is no body at all) counts as {}. */
  optional: boolean;
}

/**
 * Reads a JSON body whole and parses it.
 * @throws problems payload_too_large, unsupported_media_type, malformed_json, request_timeout, validation_failed (text
 * that is not Unicode); AbortError-like errors of raw-body when the client went away.
 */
export async function readJson(req: IncomingMessage, { types, timeoutMs, optional }: BodyRules): Promise<unknown> {
  const declared = Number(req.headers["content-length"] ?? 0);
  if (declared > MAX_JSON_BYTES) throw tooLarge();
  const bytes = await readBytes(req, timeoutMs);
  if (bytes.length === 0 && optional) return {};
  if (bytes.length === 0) throw problem("malformed_json", "The body is empty; send a JSON object, at least {}.");
  checkMediaType(req, types);
  const { value, faults } = parse(bytes);
  if (faults.length > 0)
    throw problem("validation_failed", "The body has text that is not Unicode.", { errors: faults });
  return value;
}

/** Whether the request brings a body at all (RFC 9112, 6.3). */
export function hasBody(req: IncomingMessage): boolean {
  return req.headers["transfer-encoding"] !== undefined || Number(req.headers["content-length"] ?? 0) > 0;
}

/** @throws problem unsupported_media_type, naming the media types that are taken. */
export function checkMediaType(req: IncomingMessage, types: readonly string[]): void {
  refuseEncoding(req);
  const given = req.headers["content-type"] ?? "";
  const mediaType = parseMediaType(given);
  const charset = mediaType?.params.get("charset")?.toLowerCase() ?? "utf-8";
  if (mediaType === undefined || !types.includes(mediaType.essence) || charset !== "utf-8") {
    const said = given === "" ? "has no Content-Type" : `is ${JSON.stringify(given.slice(0, 100))}`;
    throw problem("unsupported_media_type", `The body ${said}; send ${types.join(" or ")} in UTF-8.`);
  }
}

/** @throws problem unsupported_media_type where the body is compressed, or otherwise not as it is. */
export function refuseEncoding(req: IncomingMessage): void {
  const encoding = req.headers["content-encoding"];
  if (encoding === undefined || encoding.toLowerCase() === "identity") return;
  throw problem("unsupported_media_type", "Content-Encoding is not taken here; send the body as it is.");
}

/** The body's media type without parameters, lower-case; undefined where it is not declared or not one. */
export function mediaTypeOf(req: IncomingMessage): string | undefined {
  return parseMediaType(req.headers["content-type"] ?? "")?.essence;
}

function parseMediaType(text: string): MIMEType | undefined {
  try {
    return new MIMEType(text);
  } catch {
    return undefined;
  }
}

async function readBytes(req: IncomingMessage, timeoutMs: number): Promise<Buffer> {
  const done = new AbortController();
  const late = setTimeout(timeoutMs, undefined, { signal: done.signal }).then(() => {
    throw problem("request_timeout", `The body was not here whole after ${timeoutMs / 1000} seconds.`, {
      headers: { Connection: "close" },
    });
  });
  try {
    return await Promise.race([getRawBody(req, { limit: MAX_JSON_BYTES }), late]);
  } catch (error) {
    req.resume(); // the rest is read and dropped, or the connection would never be free again
    throw isTooLarge(error) ? tooLarge() : error;
  } finally {
    done.abort();
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && "type" in error && error.type === "entity.too.large";
}

function tooLarge(): Error {
  return problem("payload_too_large", `A JSON body may have at most ${MAX_JSON_BYTES} bytes.`);
}

/**
 * Parses JSON text. Faults are texts in it that are not Unicode.
 * @throws problem malformed_json
 */
export function parse(bytes: Buffer): { value: unknown; faults: Fault[] } {
  const text = decode(bytes);
  try {
    const value: unknown = JSON.parse(text);
    refuseRepeats(text);
    return { value, faults: illFormed(value) };
  } catch (error) {
    if (error instanceof RangeError) throw problem("malformed_json", "The body is nested too deeply.");
    if (error instanceof SyntaxError)
      throw problem("malformed_json", `The body is not JSON: ${positionOf(text, error)}.`);
    throw error;
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw problem("malformed_json", "The body is not UTF-8.");
  }
}

/** Where the parser stopped, without repeating what the client sent: it may be personal. */
function positionOf(text: string, error: unknown): string {
  const position = /at position (\d+)/.exec(String(error))?.[1];
  if (position === undefined) return "it ends too early, or holds a character that JSON does not allow";
  const lines = text.slice(0, Number(position)).split("\n");
  return `unexpected text at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

/** JSON.parse keeps the last of two members of one name: silently dropping the first would be losing it. */
function refuseRepeats(text: string): void {
  const open: Set<string>[] = [];
  visit(text, {
    onObjectBegin: () => void open.push(new Set()),
    onObjectEnd: () => void open.pop(),
    onObjectProperty(name, _offset, _length, line, column) {
      const names = open.at(-1);
      if (names?.has(name)) {
        throw problem("malformed_json", `The body names one member twice, at line ${line + 1}, column ${column + 1}.`);
      }
      names?.add(name);
    },
  });
}

/** Lone surrogates (legal in JSON escapes, no Unicode text) would not come back as they were sent. */
function illFormed(value: unknown, pointer = ""): Fault[] {
  if (typeof value === "string")
    return value.isWellFormed() ? [] : [{ pointer, detail: "must be Unicode text: it has a lone surrogate" }];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const at = `${pointer}/${escapePointer(name.toWellFormed())}`;
    return [...(name.isWellFormed() ? [] : illFormed(name, at)), ...illFormed(member, at)];
  });
}
