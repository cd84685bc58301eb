import { Readable } from "node:stream";
import type { ContentRecord } from "../candidates/record.ts";
import type { ContentStore } from "../content/store.ts";
import { Checked } from "./checked.ts";
import type { Pack } from "./schema.ts";
import type { ZipEntry } from "./zip.ts";

/** A document's bytes, and the path that they have in the ZIP. */
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

/** How the manifest lists a document's file. `problem` says why it is not there, or not as it was uploaded. */
interface ListedFile {
  readonly document_id: string;
  /** Null where there is no file at all. */
  readonly path: string | null;
  readonly size: number;
  readonly sha256: string;
  readonly problem: string | null;
}

/**
 * The files of a pack's ZIP, one after the other: the paper, the documents' bytes, and last the manifest, which knows what
 * became of each. Bytes that are gone or damaged are its business, and no reason to give nothing.
 */
export async function* bundle({ pack, files, pdf, contents }: Bundled, signal: AbortSignal): AsyncGenerator<ZipEntry> {
  const made = new Date(pack.generated_at);
  yield { path: "pack.pdf", bytes: Readable.from([pdf]), modified: made };
  const listed: ListedFile[] = [];
  for (const { path, document_id, content } of files) {
    const { size, sha256 } = content;
    const checked = new Checked(contents.open(content.file_id, { start: 0, end: size }), content, signal);
    const there = await checked.begin();
    if (there) yield { path, bytes: checked.rest(), modified: new Date(content.uploaded_at) };
    listed.push({ document_id, path: there ? path : null, size, sha256, problem: checked.fault });
  }
  yield { path: "manifest.json", bytes: Readable.from([manifestOf(pack, listed)]), modified: made };
}

function manifestOf(pack: Pack, files: ListedFile[]): Buffer {
  const manifest = {
    object: "pack_manifest",
    files_complete: files.every(({ problem }) => problem === null),
    files,
    pack,
  };
  return Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
}
