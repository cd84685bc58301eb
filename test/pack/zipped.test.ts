import { once } from "node:events";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { expect } from "chai";
import { fromBufferPromise } from "yauzl";
import type { ContentRecord } from "../../src/candidates/record.ts";
import { bundle } from "../../src/pack/bundle.ts";
import type { Pack } from "../../src/pack/schema.ts";
import { type ZipEntry, zipped } from "../../src/pack/zip.ts";

const [MADE, UPLOADED] = [new Date("2026-11-20T10:11:12.000Z"), new Date("2025-01-02T03:04:06.000Z")];
const entry = (path: string, bytes: Readable, modified = UPLOADED): ZipEntry => ({ path, bytes, modified });

describe("a ZIP", () => {
  it("has each file with its time, as a compressed regular file that others can read", async () => {
    async function* entries() {
      yield entry("a.txt", Readable.from([Buffer.from("a".repeat(1000))]));
      yield entry("ü/b", Readable.from([Buffer.from("b"), Buffer.from("c")]), MADE);
    }
    const zip = await fromBufferPromise(await buffer(zipped(entries)), { lazyEntries: true });
    const found: unknown[] = [];
    for await (const each of zip.eachEntry())
      found.push({
        path: each.fileName,
        mode: (each.externalFileAttributes >>> 16).toString(8),
        modified: each.getLastModDate().toISOString(),
        compressed: [each.compressionMethod, each.compressedSize < each.uncompressedSize],
        content: (await text(await zip.openReadStreamPromise(each))).slice(0, 3),
      });
    const common = { mode: "100644" };
    expect(found).to.deep.equal([
      { ...common, path: "a.txt", modified: UPLOADED.toISOString(), compressed: [8, true], content: "aaa" },
      { ...common, path: "ü/b", modified: MADE.toISOString(), compressed: [8, false], content: "bc" },
    ]);
  });

  it("is cut off if a file fails, or if the next one cannot be made", async () => {
    async function* failingBytes(): AsyncGenerator<Buffer> {
      yield Buffer.from("a");
      throw new Error("no bytes");
    }
    async function* failingFile() {
      yield entry("a", Readable.from(failingBytes()));
    }
    async function* failingNext() {
      yield entry("a", Readable.from([Buffer.from("a")]));
      throw new Error("no file");
    }
    const failureOf = (entries: () => AsyncIterable<ZipEntry>) =>
      buffer(zipped(entries)).then(
        () => "none",
        (error: Error) => error.message,
      );
    expect([await failureOf(failingFile), await failureOf(failingNext)]).to.deep.equal(["no bytes", "no file"]);
  });

  it("asks for no more files once its reader is gone, and destroys the open one", async () => {
    const open = new Readable({ read: () => undefined });
    open.on("error", () => undefined);
    let signal: AbortSignal | undefined;
    let more = false;
    const output = zipped(async function* (until) {
      signal = until;
      yield entry("a", open);
      more = true;
      yield entry("b", Readable.from([]));
    });
    output.on("error", () => undefined);
    await once(output, "readable");
    expect(signal?.aborted).to.equal(false);
    const closed = new Promise((resolve) => open.once("close", resolve));
    output.destroy();
    await closed;
    expect([signal?.aborted, open.destroyed, more]).to.deep.equal([true, true, false]);
  });
});

describe("the files of a pack's ZIP", () => {
  it("are the PDF, the contents with the times of their uploads, and last the manifest", async () => {
    const pack = { generated_at: MADE.toISOString(), documents: [{ id: "doc_1" }] } as Pack;
    const content = (file_id: string, size: number) =>
      ({ file_id, size, sha256: file_id, uploaded_at: UPLOADED.toISOString() }) as ContentRecord;
    const files = [
      { path: "documents/001 a", document_id: "doc_1", content: content("file_1", 3) },
      { path: "documents/002 b", document_id: "doc_2", content: content("file_2", 4) },
    ];
    const opened: unknown[] = [];
    const contents = {
      open(id: string, range: { start: number; end: number }) {
        opened.push([id, range]);
        return Readable.from(id === "file_1" ? [Buffer.from("one")] : []);
      },
    } as never;
    const made: [string, string, string][] = [];
    const bundled = bundle({ pack, files, pdf: Buffer.from("pdf"), contents }, new AbortController().signal);
    for await (const { path, bytes, modified } of bundled) made.push([path, modified.toISOString(), await text(bytes)]);
    expect(opened).to.deep.equal([
      ["file_1", { start: 0, end: 3 }],
      ["file_2", { start: 0, end: 4 }],
    ]);
    expect(made.slice(0, -1)).to.deep.equal([
      ["pack.pdf", MADE.toISOString(), "pdf"],
      ["documents/001 a", UPLOADED.toISOString(), "one"],
    ]);
    const [path, modified, manifest = ""] = made.at(-1) ?? [];
    expect([path, modified]).to.deep.equal(["manifest.json", MADE.toISOString()]);
    expect(JSON.parse(manifest)).to.deep.equal({
      object: "pack_manifest",
      files_complete: false,
      files: [
        {
          document_id: "doc_1",
          path: "documents/001 a",
          size: 3,
          sha256: "file_1",
          problem: "The content is not what was uploaded: its SHA-256 differs.",
        },
        {
          document_id: "doc_2",
          path: null,
          size: 4,
          sha256: "file_2",
          problem: "The content has 0 bytes, not 4 as at its upload.",
        },
      ],
      pack,
    });
    expect(manifest.split("\n").map((line) => line.slice(0, 22))).to.deep.equal([
      '{"object":"pack_manife',
      '{"document_id":"doc_1"',
      '{"document_id":"doc_2"',
      '{"id":"doc_1"}]}}',
    ]);
  });
});
