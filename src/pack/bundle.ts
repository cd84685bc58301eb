import { createHash } from "node:crypto";
import { addAbortSignal, Readable } from "node:stream";
import type { ContentRecord } from "../candidates/record.ts";
import type { ContentStore } from "../content/store.ts";
import { jsonBytes } from "../infra/json-parts.ts";
import { Problem } from "../problems.ts";
import type { Pack } from "./schema.ts";
import type { ZipEntry } from "./zip.ts";

/** A document's content, and its path in the ZIP. */
export type PackFile = Readonly<{ path: string; document_id: string; content: ContentRecord }>;

interface Bundled {
  readonly pack: Pack;
  readonly files: readonly PackFile[];
  readonly pdf: Uint8Array;
  readonly contents: Pick<ContentStore, "open">;
}

/**
 * Generates the files of a pack's ZIP: the PDF, the content of each document, and last the manifest, which lists every
 * file and what is wrong with it. Missing or damaged content therefore does not fail the ZIP.
 */
export async function* bundle({ pack, files, pdf, contents }: Bundled, signal: AbortSignal): AsyncGenerator<ZipEntry> {
  const generatedAt = new Date(pack.generated_at);
  yield { path: "pack.pdf", bytes: Readable.from([pdf]), modified: generatedAt };
  const listed = [];
  for (const { path, document_id, content } of files) {
    const { size, sha256 } = content;
    const source = contents.open(content.file_id, { start: 0, end: size });
    const { bytes, fault } = await checked(source, content, signal);
    if (bytes !== null) yield { path, bytes, modified: new Date(content.uploaded_at) };
    // `path` is null if the ZIP does not contain the file. `problem` says why, or how it differs from the upload.
    listed.push({ document_id, path: bytes === null ? null : path, size, sha256, problem: fault() });
  }
  const files_complete = listed.every(({ problem }) => problem === null);
  // One document or reference on a line. With indentation, a deeply nested answer would be many times as long.
  const manifest = await jsonBytes({ object: "pack_manifest", files_complete, files: listed, pack }, "\n");
  yield { path: "manifest.json", bytes: Readable.from([manifest]), modified: generatedAt };
}

/**
 * Reads the first chunk of a content. Checks all of it against the size and SHA-256 recorded at its upload.
 * @returns `bytes`, the whole content. They end early if the rest cannot be read, and are null if none can: every content
 * has at least one byte. `fault` says in a sentence what is wrong with them, or null, once they have been read to the end.
 */
export async function checked(source: Readable, content: ContentRecord, signal: AbortSignal) {
  let fault: string | null = null;
  const chunks = check(addAbortSignal(signal, source));
  let first: IteratorResult<Uint8Array> | undefined = await chunks.next();
  return { bytes: first.done ? null : Readable.from(all()), fault: () => fault };

  async function* all(): AsyncGenerator<Uint8Array> {
    const begun = first;
    first = undefined; // the ZIP keeps every entry until its end: release the chunk
    if (begun?.done === false) yield begun.value;
    yield* chunks;
  }

  async function* check(read: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const hash = createHash("sha256");
    let size = 0;
    try {
      for await (const chunk of read) {
        hash.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    } catch (error) {
      // The reader is gone, or the store does not respond. Neither is a fault of the content.
      if (signal.aborted || (error instanceof Problem && error.code === "store_unavailable")) throw error;
      fault = `Of the content's ${content.size} bytes only the first ${size} could be read.`;
      return;
    }
    if (size !== content.size) fault = `The content has ${size} bytes, not ${content.size} as at its upload.`;
    else if (hash.digest("hex") !== content.sha256)
      fault = "The content is not what was uploaded: its SHA-256 differs.";
  }
}
