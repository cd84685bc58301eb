import { hash } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { invalid, type Problem } from "../problems.ts";

/** The media type of a file that was sent without one. */
export const UNKNOWN_TYPE = "application/octet-stream";

/** A file that is being uploaded. Read the stream once, to its end, and no faster than the bytes can be written. */
export interface IncomingFile {
  readonly stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  readonly filename: string | null;
  readonly contentType: string | null;
}

/** A file whose bytes are all written. It counts as a left-over until a record names it. */
export interface StoredFile {
  readonly id: string;
  readonly filename: string | null;
  readonly contentType: string;
  /** In bytes. */
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** Bytes from `start` up to, but not including, `end`. */
export type ByteRange = Readonly<{ start: number; end: number }>;

/**
 * Returns the range that a Range header selects (RFC 9110, 14.2), or "unsatisfiable" if it lies outside `size` bytes. Undefined
 * if the response is the whole content: the header is absent, malformed, in another unit, or names several ranges.
 */
export function rangeOf(header: string | undefined, size: number): ByteRange | "unsatisfiable" | undefined {
  const [, first, last] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "") ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return undefined;
  if (first === "") return satisfiable({ start: Math.max(size - Number(last), 0), end: size });
  if (last !== "" && Number(last) < Number(first)) return undefined;
  return satisfiable({ start: Number(first), end: last === "" ? size : Math.min(Number(last) + 1, size) });
}

function satisfiable(range: ByteRange): ByteRange | "unsatisfiable" {
  return range.start < range.end ? range : "unsatisfiable";
}

export function emptyFile(): Problem {
  return invalid("/content", "must have at least one byte", "The file is empty. Send a file with at least one byte.");
}

/** Returns the file as it would be stored. Reads its bytes to their end without storing them, so the id is empty. */
export async function rehearsedFile({ stream, filename, contentType }: IncomingFile): Promise<StoredFile> {
  const bytes = await buffer(Readable.from(stream));
  if (bytes.length === 0) throw emptyFile();
  const sha256 = hash("sha256", bytes, "hex");
  return { id: "", filename, contentType: contentType ?? UNKNOWN_TYPE, size: bytes.length, sha256 };
}
