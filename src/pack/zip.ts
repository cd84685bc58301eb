import { addAbortSignal, PassThrough, type Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { ZipFile } from "yazl";

/** One file of a ZIP. Its path is in the form that every system takes; its bytes are read once, when their turn comes. */
export interface ZipEntry {
  readonly path: string;
  readonly bytes: Readable;
  readonly modified: Date;
}

/** Regular file, read and write for its owner, read for others. */
const MODE = 0o100644;

/**
 * A ZIP (names in UTF-8, ZIP64 where it needs to be) made while it is read: the next entry is asked for when the one before
 * has gone out, so it takes the same memory whatever its size. An entry's error destroys it: a ZIP that ends is whole.
 * @param entriesUntil its entries; the signal fires when nobody reads any more.
 */
export function zipped(entriesUntil: (signal: AbortSignal) => AsyncIterable<ZipEntry>): Readable {
  const zip = new ZipFile();
  const output = new PassThrough();
  const gone = new AbortController();
  output.once("close", () => gone.abort());
  zip.on("error", (error) => output.destroy(error instanceof Error ? error : new Error(String(error))));
  zip.outputStream.pipe(output);
  fill(zip, entriesUntil(gone.signal), gone.signal).catch((error: Error) => output.destroy(error));
  return output;
}

async function fill(zip: ZipFile, entries: AsyncIterable<ZipEntry>, signal: AbortSignal): Promise<void> {
  for await (const { path, bytes, modified } of entries) {
    addAbortSignal(signal, bytes);
    // Deflated even where that gains nothing: what is stored while its size is unknown, some readers refuse to stream.
    zip.addReadStream(bytes, path, { mtime: modified, mode: MODE, compressionLevel: 1 });
    await finished(bytes, { writable: false });
  }
  signal.throwIfAborted();
  zip.end();
}
