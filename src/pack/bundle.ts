import { Readable } from "node:stream";
import type { ContentRecord } from "../candidates/record.ts";
import type { ContentStore } from "../content/store.ts";
import { jsonBytes } from "../infra/json-parts.ts";
import { checked } from "./checked.ts";
import type { Pack } from "./schema.ts";
import type { ZipEntry } from "./zip.ts";

/** A document's content, and its path in the ZIP. */
export interface PackFile {
  readonly path: string;
  readonly document_id: string;
  readonly content: ContentRecord;
}

export interface Bundled {
  readonly pack: Pack;
  readonly files: readonly PackFile[];
  readonly pdf: Uint8Array;
  readonly contents: Pick<ContentStore, "open">;
}

/** A document's entry in the manifest. `problem` says why the file is missing, or differs from the upload. */
interface ListedFile {
  readonly document_id: string;
  /** Null if the ZIP does not contain the file. */
  readonly path: string | null;
  readonly size: number;
  readonly sha256: string;
  readonly problem: string | null;
}

/**
 * Generates the files of a pack's ZIP: the PDF, the content of each document, and last the manifest, which lists every
 * file and what is wrong with it. Missing or damaged content therefore does not fail the ZIP.
 */
export async function* bundle({ pack, files, pdf, contents }: Bundled, signal: AbortSignal): AsyncGenerator<ZipEntry> {
  const generatedAt = new Date(pack.generated_at);
  yield { path: "pack.pdf", bytes: Readable.from([pdf]), modified: generatedAt };
  const listed: ListedFile[] = [];
  for (const { path, document_id, content } of files) {
    const { size, sha256 } = content;
    const source = contents.open(content.file_id, { start: 0, end: size });
    const { bytes, fault } = await checked(source, content, signal);
    if (bytes !== null) yield { path, bytes, modified: new Date(content.uploaded_at) };
    listed.push({ document_id, path: bytes === null ? null : path, size, sha256, problem: fault() });
  }
  yield { path: "manifest.json", bytes: Readable.from([await manifestOf(pack, listed)]), modified: generatedAt };
}

function manifestOf(pack: Pack, files: ListedFile[]): Promise<Buffer> {
  const files_complete = files.every(({ problem }) => problem === null);
  // One document or reference on a line. With indentation, a deeply nested answer would be many times as long.
  return jsonBytes({ object: "pack_manifest", files_complete, files, pack }, "\n");
}
