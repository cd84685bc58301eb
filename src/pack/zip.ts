import { addAbortSignal, PassThrough, type Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { ZipFile } from "yazl";

/** One file of a ZIP. Its path must be valid on every system. Its bytes are read once, when it is its turn. */
export type ZipEntry = Readonly<{ path: string; bytes: Readable; modified: Date }>;

/** A regular file that its owner can read and write, and others can read. */
const MODE = 0o100644;

/**
 * Streams a ZIP (names in UTF-8, ZIP64 if needed) that is generated while it is read. It requests the next entry only
 * when the previous one has been read, so its memory does not grow with its size. If an entry fails, the stream is
 * destroyed: a ZIP that ends is complete.
 * @param entriesUntil returns the entries. The signal is aborted when the stream closes.
 */
export function zipped(entriesUntil: (signal: AbortSignal) => AsyncIterable<ZipEntry>): Readable {
  const zip = new ZipFile();
  const output = new PassThrough();
  const closed = new AbortController();
  output.once("close", () => closed.abort());
  zip.on("error", (error) => output.destroy(error instanceof Error ? error : new Error(String(error))));
  zip.outputStream.pipe(output);
  fill(zip, entriesUntil(closed.signal), closed.signal).catch((error: Error) => output.destroy(error));
  return output;
}

async function fill(zip: ZipFile, entries: AsyncIterable<ZipEntry>, signal: AbortSignal): Promise<void> {
  for await (const { path, bytes, modified } of entries) {
    addAbortSignal(signal, bytes);
    // Compress even if that saves nothing: some readers cannot stream stored entries of unknown size.
    zip.addReadStream(bytes, path, { mtime: modified, mode: MODE, compressionLevel: 1 });
    await finished(bytes, { writable: false });
  }
  signal.throwIfAborted();
  zip.end();
}
