import { createHash, randomBytes } from "node:crypto";
import { openAsBlob } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { type Bytes, ConnectionError, RateLimitError } from "../../src/client/index.ts";
import { useProxy } from "../limiter/proxy.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { errorOf, recorded, sentTooEarly, useGateway } from "./support.ts";

const FILE = randomBytes(3 * 2 ** 20);
const SHA256 = createHash("sha256").update(FILE).digest("hex");

/** Gives the file in pieces, once. */
function* pieces(): Generator<Buffer> {
  for (let start = 0; start < FILE.length; start += 65_536) yield FILE.subarray(start, start + 65_536);
}

describe("an upload with the client", () => {
  const service = useService();
  const proxy = useProxy(service);
  const gateway = useGateway();
  const account = useAccount(service);
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "onboarding-client-"));
    await writeFile(join(folder, "scan.pdf"), FILE);
  });
  after(() => rm(folder, { recursive: true }));

  /** Uploads the bytes to a new document, through the proxy. */
  async function upload(bytes: Bytes, beforehand: () => void = () => undefined) {
    const { client, sent } = recorded({ baseUrl: `http://127.0.0.1:${proxy.port}`, apiKey: account.key });
    const { id } = await client.createCandidate({});
    const document = await client.addDocument(id, { name: "scan" });
    sent.length = 0;
    beforehand();
    return { sent, put: client.putDocumentContent(id, document.id, bytes) };
  }

  const sources: Record<string, () => Promise<Bytes> | Bytes> = {
    "a Buffer": () => FILE,
    "an ArrayBuffer": () => new Uint8Array(FILE).buffer,
    "a Blob": () => new Blob([FILE]),
    "a file, as a Blob": () => openAsBlob(join(folder, "scan.pdf")),
    "a Node stream": () => Readable.from(pieces()),
    "a web stream": () => new Blob([FILE]).stream(),
    "a function that opens a stream": () => () => Readable.from(pieces()),
  };
  for (const [name, source] of Object.entries(sources)) {
    it(`takes ${name}`, async () => {
      const { put } = await upload(await source());
      expect((await put).content).to.deep.include({ size: FILE.length, sha256: SHA256 });
    });
  }

  it("of a stream holds only what is being sent", async () => {
    let made = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (; ; made++) yield new Uint8Array(2 ** 20);
    }
    const abort = new AbortController();
    gateway.answer = () => undefined; // reads nothing of the body
    const { client } = recorded({ baseUrl: gateway.url, apiKey: "k" });
    const failed = errorOf(client.putDocumentContent("cand_1", "doc_1", endless(), { signal: abort.signal }));
    let seen = -1;
    while (gateway.requests.length === 0 || made !== seen) {
      seen = made;
      await setTimeout(200);
    }
    abort.abort();
    await failed;
    expect(made, "MiB that left the source: what the buffers of the connection hold").to.be.within(1, 20);
  });

  it("of bytes or of a function is sent again if its response is lost", async () => {
    for (const bytes of [FILE, () => Readable.from(pieces())]) {
      const { put, sent } = await upload(bytes, () => (proxy.loseAnswer = true));
      expect((await put).content).to.include({ sha256: SHA256 });
      expect(sent).to.have.length(2);
    }
  });

  it("in a form is sent again if its response is lost, and is done once", async () => {
    const { client, sent } = recorded({ baseUrl: `http://127.0.0.1:${proxy.port}`, apiKey: account.key });
    const { id } = await client.createCandidate({});
    proxy.loseAnswer = true;
    const fields = { name: "scan", metadata: { page: "1" }, required: false };
    await client.addDocument(id, fields, { file: new Blob([FILE]) });
    const { documents } = await client.readCandidate(id);
    expect(documents).to.have.length(1);
    expect(documents[0]).to.deep.include(fields);
    expect(sent.map(({ method }) => method)).to.deep.equal(["POST", "POST", "POST", "GET"]);
  });

  it("may take longer than the timeout, whatever its type is", async () => {
    gateway.answer = (_, response) => void globalThis.setTimeout(() => response.end("{}"), 300);
    const { client, sent } = recorded({ baseUrl: gateway.url, apiKey: "k", timeout: 0.1 });
    await client.putDocumentContent("cand_1", "doc_1", "{}", { contentType: "application/json" });
    await client.addDocument("cand_1", { name: "scan" }, { file: new Blob(["{}"]) });
    expect(sent).to.have.length(2);
  });

  it("of a stream that gives nothing more ends the stream when it aborts", async () => {
    gateway.answer = () => undefined;
    const { client } = recorded({ baseUrl: gateway.url, apiKey: "k" });
    const sources: ((asked: () => void, ended: () => void) => Bytes)[] = [
      (asked, ended) => new ReadableStream<Uint8Array>({ pull: asked, cancel: ended }, { highWaterMark: 0 }),
      (asked, ended) => new Readable({ read: asked }).on("close", ended),
      (asked, ended) => () => new Readable({ read: asked }).on("close", ended),
    ];
    for (const source of sources) {
      const abort = new AbortController();
      let end = (): void => undefined;
      const ended = new Promise<void>((resolve) => (end = resolve));
      const failed = errorOf(
        client.putDocumentContent(
          "cand_1",
          "doc_1",
          source(() => abort.abort(), end),
          { signal: abort.signal },
        ),
      );
      expect(await failed).to.equal(abort.signal.reason);
      await ended;
    }
  });

  it("ends what a function opened, also if nothing of it was sent", async () => {
    const opened: Readable[] = [];
    const { client } = recorded({ baseUrl: "http://127.0.0.1:1", apiKey: "k", maxWait: 0.2 });
    const open = (): Readable => {
      opened.push(Readable.from(pieces()));
      return opened.at(-1) ?? Readable.from([]);
    };
    expect(await errorOf(client.putDocumentContent("cand_1", "doc_1", open))).to.be.instanceOf(ConnectionError);
    expect(opened.map(({ destroyed }) => destroyed)).to.deep.equal(opened.map(() => true));
    expect(opened).not.to.have.length(0);
  });

  it("of a stream is not sent again once some of it was sent", async () => {
    const { put, sent } = await upload(Readable.from(pieces()), () => (proxy.loseAnswer = true));
    expect(await errorOf(put)).to.be.instanceOf(ConnectionError);
    expect(sent).to.have.length(1);
  });

  it("of a stream is not sent again after a refusal, unless nothing of it was sent", async () => {
    gateway.answer = (request, response) =>
      void request.resume().on("end", () => response.writeHead(429, { "retry-after": "1" }).end("{}"));
    const { client, sent } = recorded({ baseUrl: gateway.url, apiKey: "k" });
    const put = (): Promise<unknown> => client.putDocumentContent("cand_1", "doc_1", Readable.from(pieces()));
    expect(await errorOf(put())).to.be.instanceOf(RateLimitError);
    expect(sent).to.have.length(1);
    expect(await errorOf(put()), "it waited, and was sent").to.be.instanceOf(RateLimitError);
    expect(sent).to.have.length(2);
    expect(sentTooEarly(sent)).to.equal(0);
  });

  it("of a stream is sent again if nothing of it was sent", async () => {
    let attempts = 0;
    const { client } = recorded({
      baseUrl: service.url,
      apiKey: account.key,
      fetch: (url, init) =>
        fetch(
          url.replace(/:\d+/, (port) => (attempts++ === 2 ? ":1" : port)),
          init,
        ),
    });
    const { id } = await client.createCandidate({});
    const document = await client.addDocument(id, { name: "scan" });
    const { content } = await client.putDocumentContent(id, document.id, Readable.from(pieces()));
    expect(content).to.include({ sha256: SHA256 });
    expect(attempts).to.equal(4);
  });
});
