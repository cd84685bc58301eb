import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { expect } from "chai";
import type { ContentRecord } from "../../src/candidates/record.ts";
import { checked } from "../../src/pack/bundle.ts";
import { problem } from "../../src/problems.ts";

const BYTES = Buffer.from("one two");
const RECORD = { size: 7, sha256: createHash("sha256").update(BYTES).digest("hex") } as ContentRecord;

/** Yields the chunks, then fails with the error, if there is one. */
async function* sourceOf(chunks: readonly string[], error?: Error): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield Buffer.from(chunk);
  if (error !== undefined) throw error;
}

/** Reads content as a pack does. Returns whether it could be read at all, what was read, and what is wrong with it. */
async function read(
  chunks: readonly string[],
  { record = RECORD, error }: { record?: ContentRecord; error?: Error } = {},
) {
  const source = Readable.from(sourceOf(chunks, error));
  const { bytes, fault } = await checked(source, record, new AbortController().signal);
  const text = bytes === null ? "" : String(await buffer(bytes));
  return [bytes !== null, text, fault()];
}

describe("the content of a document in a pack", () => {
  it("is as it was uploaded, in one chunk or in several", async () => {
    for (const chunks of [["one two"], ["one", " ", "two"]])
      expect(await read(chunks)).to.deep.equal([true, "one two", null]);
  });

  it("has a fault if its size or its bytes are others, or if it is not there", async () => {
    expect(await read(["one ", "tw"])).to.deep.equal([
      true,
      "one tw",
      "The content has 6 bytes, not 7 as at its upload.",
    ]);
    expect(await read(["one twO"])).to.deep.equal([
      true,
      "one twO",
      "The content is not what was uploaded: its SHA-256 differs.",
    ]);
    expect(await read([])).to.deep.equal([false, "", "The content has 0 bytes, not 7 as at its upload."]);
  });

  it("ends early, with a fault, where it cannot be read", async () => {
    const error = new Error("A chunk is missing.");
    const fault = (size: number) => `Of the content's 7 bytes only the first ${size} could be read.`;
    expect(await read(["one", " t"], { error })).to.deep.equal([true, "one t", fault(5)]);
    expect(await read([], { error })).to.deep.equal([false, "", fault(0)]);
    const refused = problem("not_found", "No such file.");
    expect(await read(["one"], { error: refused })).to.deep.equal([true, "one", fault(3)]);
  });

  it("fails if the store does not answer, or once the reader is gone: neither is a fault of the content", async () => {
    const failed = await read([], { error: problem("store_unavailable", "Down.") }).catch(
      (error: Error) => error.message,
    );
    expect(failed).to.equal("Down.");
    const reader = new AbortController();
    const { bytes, fault } = await checked(Readable.from(sourceOf(["one", " two"])), RECORD, reader.signal);
    expect(bytes).to.be.instanceOf(Readable);
    reader.abort();
    const left = await buffer(bytes!).catch((error: Error) => error.name);
    expect([left, fault()]).to.deep.equal(["AbortError", null]);
  });
});
