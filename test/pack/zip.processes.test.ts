import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { mock } from "node:test";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { ObjectId } from "mongodb";
import type { Stored } from "../../src/candidates/stored.ts";
import { ContentStore } from "../../src/content/store.ts";
import { problem } from "../../src/problems.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { download, manifestIn, unzip } from "./support.ts";

describe("the pack as a ZIP", () => {
  const service = useService();
  const { client } = useAccount(service);

  const bytesFor = (seed: string, size: number) => Buffer.alloc(size, createHash("sha512").update(seed).digest());

  async function candidateWith(
    documents: { name: string; filename?: string; type?: string; bytes?: Buffer }[],
  ): Promise<string> {
    const given = documents.map(({ name, filename = null, type = null, bytes }) => ({
      name,
      ...(bytes === undefined ? {} : { content: { filename, content_type: type, data: bytes.toString("base64") } }),
    }));
    return (await client.post("/candidates", { documents: given })).body.id;
  }

  async function putContent(id: string, index: number, body: Buffer): Promise<void> {
    const document = (await client.get(`/candidates/${id}`)).body.documents[index];
    await client.request("PUT", `/candidates/${id}/documents/${document?.id}/content`, {
      body,
      headers: { "Content-Type": "image/png" },
    });
  }

  async function zipOf(id: string) {
    const { bytes } = await download(client, `/candidates/${id}/pack?format=zip`);
    const files = await unzip(bytes);
    return { files, manifest: manifestIn(files) };
  }

  it("contains the PDF, the manifest and every document's content exactly as uploaded", async () => {
    const passport = bytesFor("passport", 300_000);
    const id = await candidateWith([
      { name: "Passport", filename: "scan.PDF", bytes: passport },
      { name: "Not here yet" },
      { name: "One byte", type: "text/plain", bytes: Buffer.from("-") },
    ]);
    const { files, manifest } = await zipOf(id);
    expect([...files.keys()]).to.deep.equal([
      "pack.pdf",
      "documents/001 Passport.pdf",
      "documents/003 One byte.txt",
      "manifest.json",
    ]);
    expect(files.get("documents/001 Passport.pdf")?.equals(passport)).to.equal(true);
    expect(files.get("documents/003 One byte.txt")?.length).to.equal(1);
    expect(files.get("pack.pdf")?.subarray(0, 5).toString()).to.equal("%PDF-");
    expect(manifest).to.include({ object: "pack_manifest", files_complete: true });
    expect(manifest.pack).to.include({ object: "pack", candidate_id: id });
    const [document] = manifest.pack.documents;
    expect(manifest.files[0]).to.deep.equal({
      document_id: document?.id,
      path: "documents/001 Passport.pdf",
      size: passport.length,
      sha256: createHash("sha256").update(passport).digest("hex"),
      problem: null,
    });
  });

  it("reports missing and damaged content in the manifest, and delivers the rest", async () => {
    const bytes = ["gone", "cut", "swapped", "kept"].map((name) => bytesFor(name, 600_000));
    const id = await candidateWith(["gone", "cut", "swapped", "kept"].map((name) => ({ name })));
    for (const [index, content] of bytes.entries()) await putContent(id, index, content);
    const { db } = service.operators.mongo;
    const candidates = db.collection<{ _id: string; documents: { content: { file_id: string } }[] }>("candidates");
    const [gone, cut, swapped, kept] = (await candidates.findOne({ _id: id }))?.documents ?? [];
    if (gone === undefined || cut === undefined || swapped === undefined || kept === undefined)
      throw new Error("The candidate must have four documents.");
    const chunks = db.collection("content.chunks");
    await chunks.deleteMany({ files_id: new ObjectId(gone.content.file_id) });
    await chunks.deleteOne({ files_id: new ObjectId(cut.content.file_id), n: 2 });
    const wrong = { ...swapped, content: { ...swapped.content, file_id: kept.content.file_id } };
    await candidates.updateOne({ _id: id }, { $set: { documents: [gone, cut, wrong, kept] } });

    const { files, manifest } = await zipOf(id);
    const [first, second, third, fourth] = manifest.files;
    expect(manifest.files_complete).to.equal(false);
    expect(first).to.include({ path: null, problem: "Of the content's 600000 bytes only the first 0 could be read." });
    const read = Number(
      /^Of the content's 600000 bytes only the first (\d+) could be read\.$/.exec(second?.problem ?? "")?.[1],
    );
    expect(read).to.be.lessThan(600_000);
    expect(bytes[1]?.subarray(0, read).equals(files.get(second?.path ?? "") ?? Buffer.alloc(0))).to.equal(true);
    expect(third?.problem).to.match(/SHA-256 differs/);
    expect(fourth?.problem).to.equal(null);
    expect(bytes[3]?.equals(files.get(fourth?.path ?? "") ?? Buffer.alloc(0))).to.equal(true);
  });

  it("is not complete if all files are there and one differs from its upload", async () => {
    const id = await candidateWith([{ name: "a", bytes: Buffer.from("a") }]);
    const candidates = service.operators.mongo.db.collection<Stored>("candidates");
    const { documents } = (await candidates.findOne({ _id: id }))!;
    const damaged = documents.map((each) => ({ ...each, content: { ...each.content!, sha256: "0".repeat(64) } }));
    await candidates.updateOne({ _id: id }, { $set: { documents: damaged } });
    const { manifest } = await zipOf(id);
    expect(manifest.files[0]?.problem).to.match(/SHA-256 differs/);
    expect(manifest.files_complete).to.equal(false);
  });

  it("resets the connection if the store fails half-way, so that no truncated ZIP looks complete", async () => {
    const id = await candidateWith([{ name: "a", filename: "a.bin", bytes: bytesFor("a", 600_000) }]);
    const { open } = ContentStore.prototype; // oxlint-disable-line typescript/unbound-method -- called with its own this
    const failing = mock.method(
      ContentStore.prototype,
      "open",
      function (this: ContentStore, ...args: Parameters<typeof open>) {
        return Readable.from(failingAfterOneChunk(open.apply(this, args)), { objectMode: false });
      },
    );
    try {
      const error = await download(client, `/candidates/${id}/pack?format=zip`).then(
        () => undefined,
        (caught: unknown) => caught,
      );
      expect(failing.mock.callCount()).to.equal(1);
      expect(error).to.be.instanceOf(TypeError);
    } finally {
      failing.mock.restore();
    }
  });

  it("stops reading the store when its client disconnects", async () => {
    const id = await candidateWith([{ name: "large" }, { name: "never opened" }]);
    for (const index of [0, 1]) await putContent(id, index, randomBytes(12_000_000));
    const open = mock.method(ContentStore.prototype, "open");
    try {
      const sent = request(`${client.url}/candidates/${id}/pack?format=zip`, {
        headers: { Authorization: `Bearer ${client.key}` },
      });
      sent.end();
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      while (open.mock.callCount() === 0) await setImmediate();
      const bytes = open.mock.calls[0]?.result ?? Readable.from([]);
      const closed = once(bytes, "close").catch((error: Error) => expect(error.name).to.equal("AbortError"));
      response.destroy();
      await closed;
      expect(bytes.destroyed).to.equal(true);
      expect(open.mock.callCount()).to.equal(1);
    } finally {
      open.mock.restore();
    }
  });
});

async function* failingAfterOneChunk(bytes: Readable): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes as AsyncIterable<Uint8Array>) {
    yield chunk;
    throw problem("store_unavailable", "The store did not answer in time.");
  }
}
