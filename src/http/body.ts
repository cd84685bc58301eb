import type { IncomingMessage } from "node:http";
import { setTimeout } from "node:timers/promises";
import { MIMEType } from "node:util";
import { visit } from "jsonc-parser";
import getRawBody from "raw-body";
import type { StoredFile } from "../content/file.ts";
import { type Fault, problem } from "../problems.ts";
import { escapePointer } from "../schema/pointer.ts";

/** Largest JSON body, in bytes. Larger content is sent as multipart or as raw bytes. */
export const MAX_JSON_BYTES = 1024 * 1024;

/** A request body that was read completely. */
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
 * that is not Unicode). Throws raw-body's ECONNABORTED if the client disconnects.
 */
export async function readJson(req: IncomingMessage, { types, timeoutMs, optional }: BodyRules): Promise<unknown> {
  const declared = Number(req.headers["content-length"] ?? 0);
  if (declared > MAX_JSON_BYTES) throw tooLarge();
  const bytes = await readBytes(req, timeoutMs);
  if (bytes.length === 0 && optional) return {};
  if (bytes.length === 0) throw problem("malformed_json", "The body is empty. Send a JSON object, at least {}.");
  checkMediaType(req, types);
  const { value, faults } = parse(bytes);
  if (faults.length > 0)
    throw problem("validation_failed", "The body contains text that is not Unicode. Remove the lone surrogates.", {
      errors: faults,
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
  const charset = mediaType?.params.get("charset")?.toLowerCase() ?? "utf-8";
  if (mediaType === undefined || !types.includes(mediaType.essence) || charset !== "utf-8") {
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
    throw problem(
      "request_timeout",
      `The body was still incomplete after ${timeoutMs / 1000} seconds. Send it again.`,
      { headers: { Connection: "close" } },
    );
  });
  try {
    return await Promise.race([getRawBody(req, { limit: MAX_JSON_BYTES }), late]);
  } catch (error) {
    req.resume(); // discard the rest: unread bytes would block the connection
    throw isTooLarge(error) ? tooLarge() : error;
  } finally {
    done.abort();
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && "type" in error && error.type === "entity.too.large";
}

function tooLarge(): Error {
  return problem("payload_too_large", `The JSON body is too large. Send at most ${MAX_JSON_BYTES} bytes.`);
}

/**
 * Parses JSON text.
 * @returns the value, and a fault for each text in it that is not Unicode.
 * @throws problem malformed_json
 */
export function parse(bytes: Buffer): { value: unknown; faults: Fault[] } {
  const text = decode(bytes);
  try {
    const value: unknown = JSON.parse(text);
    refuseRepeats(text);
    return { value, faults: illFormed(value) };
  } catch (error) {
    if (error instanceof RangeError)
      throw problem("malformed_json", "The body is nested too deeply. Send a flatter one.");
    if (error instanceof SyntaxError)
      throw problem("malformed_json", `The body is not JSON: ${reasonOf(text, error)}. Send a JSON object.`);
    throw error;
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw problem("malformed_json", "The body is not UTF-8. Send JSON in UTF-8.");
  }
}

/** Says where the parser stopped, without repeating what the client sent: it may be personal. */
function reasonOf(text: string, error: unknown): string {
  const position = /at position (\d+)/.exec(String(error))?.[1];
  if (position === undefined) return "it ends too early, or contains a character that JSON does not allow";
  const lines = text.slice(0, Number(position)).split("\n");
  return `unexpected text at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
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

/** Returns a fault for each lone surrogate. JSON escapes allow them, but UTF-8 cannot store them. */
function illFormed(value: unknown, pointer = ""): Fault[] {
  if (typeof value === "string")
    return value.isWellFormed() ? [] : [{ pointer, detail: "must be Unicode text, without lone surrogates" }];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const at = `${pointer}/${escapePointer(name.toWellFormed())}`;
    return [...(name.isWellFormed() ? [] : illFormed(name, at)), ...illFormed(member, at)];
  });
}
