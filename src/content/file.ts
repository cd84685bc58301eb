import { createHash } from "node:crypto";

/** The type of bytes whose sender declared none. */
export const UNKNOWN_TYPE = "application/octet-stream";

/** A file on its way in. Read the stream once, to its end, no faster than it can be written. */
export interface IncomingFile {
  readonly stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  readonly filename: string | null;
  readonly contentType: string | null;
}

/** A file whose bytes are all written. Until a record names it, it is a left-over. */
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
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The file as it would be stored. Its bytes are read to their end and kept nowhere, so it has no id. */
export async function rehearsedFile({ stream, filename, contentType }: IncomingFile): Promise<StoredFile> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of stream) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { id: "", filename, contentType: contentType ?? UNKNOWN_TYPE, size, sha256: hash.digest("hex") };
}
