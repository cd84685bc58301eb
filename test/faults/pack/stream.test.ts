import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { bundle, type PackFile } from "../../../src/pack/bundle.ts";
import { renderPack } from "../../../src/pack/render.ts";
import { zipped } from "../../../src/pack/zip.ts";
import { problem } from "../../../src/problems.ts";
import { manifestIn, unzip } from "../../pack/support.ts";
import { candidateRecord } from "../../support/records.ts";

const MEGABYTE = 1024 * 1024;
/** Total size of the documents in bytes: 100 MiB by default. Set PACK_ZIP_MB=1024 to test a whole gibibyte. */
const TOTAL = Number(process.env.PACK_ZIP_MB ?? 100) * MEGABYTE;
const DOCUMENTS = 200;

describe("a ZIP while it is streamed", function () {
  this.timeout(120_000);
  const chunk = randomBytes(255 * 1024); // random, because anything else would compress to almost nothing

  /** Returns documents with the same content, generated as it is read, and counts the bytes read and the open streams. */
  function documents(count: number, size: number) {
    const hash = createHash("sha256");
    for (let at = 0; at < size; at += chunk.length) hash.update(chunk.subarray(0, size - at));
    const content = {
      filename: "a.bin",
      content_type: "application/pdf",
      size,
      sha256: hash.digest("hex"),
      uploaded_at: "2026-11-21T01:40:12.345Z",
    };
    const files = Array.from({ length: count }, (_, n): PackFile => ({
      path: `documents/${n}.bin`,
      document_id: `doc_${n}`,
      content: { file_id: `${n}`, ...content },
    }));
    const counted = { read: 0, open: 0, opened: 0 };
    async function* generate() {
      counted.opened++;
      counted.open++;
      try {
        for (let at = 0; at < size; at += chunk.length) {
          await setImmediate();
          const part = Buffer.from(chunk.subarray(0, size - at));
          counted.read += part.length;
          yield part;
        }
      } finally {
        counted.open--;
      }
    }
    return {
      files,
      counted,
      contents: { open: () => Readable.from(generate(), { objectMode: false, highWaterMark: 1 }) },
    };
  }

  function zipOf({ files, contents }: Pick<ReturnType<typeof documents>, "files" | "contents">): Readable {
    const pack = renderPack(RECORD, {
      account: { id: "acct_1", name: "Acme", keys: [] },
      history: [],
      history_complete: true,
      language: "en",
      generated_at: "2026-11-21T01:40:12.345Z",
    });
    return zipped((signal) => bundle({ pack, files, pdf: Buffer.from("%PDF-"), contents }, signal));
  }

  it(`needs no more memory for ${TOTAL / MEGABYTE} MiB than for a few documents`, async () => {
    const made = documents(DOCUMENTS, Math.ceil(TOTAL / DOCUMENTS));
    const zip = zipOf(made);
    const held: number[] = [];
    for await (const _ of zip) {
      if (made.counted.opened / 10 > held.length) held.push(memoryInUse());
    }
    expect(made.counted).to.deep.equal({ read: DOCUMENTS * Math.ceil(TOTAL / DOCUMENTS), open: 0, opened: DOCUMENTS });
    expect(held).to.have.length(DOCUMENTS / 10);
    expect((Math.max(...held) - (held[0] ?? 0)) / MEGABYTE).to.be.lessThan(24); // retaining one chunk per document would take 50
  });

  it("applies backpressure: it reads little ahead of its reader", async () => {
    const made = documents(20, MEGABYTE);
    const zip = zipOf(made);
    await once(zip, "readable");
    let before = -1;
    for (let turn = 0; before !== made.counted.read || turn < 2000; turn++) {
      before = made.counted.read;
      await setImmediate();
    }
    expect(made.counted.read).to.be.lessThan(3 * MEGABYTE);
    zip.destroy();
    await once(zip, "close");
  });

  it("closes the open document and opens no other when its reader goes away", async () => {
    const made = documents(20, 4 * MEGABYTE);
    const zip = zipOf(made);
    for await (const _ of zip) {
      if (made.counted.opened === 2) break;
    }
    for (let turn = 0; made.counted.open > 0 && turn < 1000; turn++) await setImmediate();
    expect(made.counted).to.include({ open: 0, opened: 2 });
  });

  it("fails with the store's error", async () => {
    const made = documents(2, MEGABYTE);
    const contents = {
      open: () =>
        Readable.from(
          (async function* () {
            yield chunk;
            throw problem("store_unavailable", "The store did not answer in time.");
          })(),
          { objectMode: false },
        ),
    };
    const error = await Readable.from(zipOf({ files: made.files, contents }))
      .toArray()
      .then(
        () => undefined,
        (caught: Error) => caught,
      );
    expect(error?.message).to.equal("The store did not answer in time.");
  });

  it("skips a document that cannot be read, and says so in the manifest", async () => {
    const made = documents(3, 100);
    let opened = 0;
    const contents = {
      open: () =>
        ++opened === 2
          ? new Readable({
              read() {
                this.destroy(new Error("A chunk is not there."));
              },
            })
          : made.contents.open(),
    };
    const parts = await zipOf({ files: made.files, contents }).toArray();
    const { files, files_complete } = manifestIn(await unzip(Buffer.concat(parts as Buffer[])));
    expect(files_complete).to.equal(false);
    expect(files.map(({ path }) => path)).to.deep.equal(["documents/0.bin", null, "documents/2.bin"]);
  });
});

/** Collects garbage, then returns the bytes in use. */
function memoryInUse(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const RECORD = candidateRecord();
