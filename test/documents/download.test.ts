import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { expect } from "chai";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { candidateWithDocument, documentIn, download, put } from "./support.ts";

describe("GET /candidates/{id}/documents/{docId}/content", () => {
  /** Two chunks and part of a third, so that ranges cross chunks. */
  const bytes = randomBytes(2 * 255 * 1024 + 1000);
  const service = useService();
  const account = useAccount(service);
  const { client } = account;
  let document: string;
  let content: string;
  let tag: string;
  beforeEach(async () => {
    ({ document, content } = await candidateWithDocument(client));
    const stored = await put(client, content, bytes, { "Content-Disposition": 'attachment; filename="a.pdf"' });
    tag = documentIn(stored).content?.etag ?? "";
  });

  it("responds with the uploaded bytes and with headers that keep browsers from running them", async () => {
    const read = await download(client, content);
    expect(read.status).to.equal(200);
    expect(read.bytes.equals(bytes)).to.equal(true);
    expect(Object.fromEntries(read.headers)).to.include({
      "content-type": "application/pdf",
      "content-length": String(bytes.length),
      "content-disposition": 'attachment; filename="a.pdf"',
      "x-content-type-options": "nosniff",
      "content-security-policy": "sandbox; default-src 'none'",
      "cache-control": "private, no-cache",
      "accept-ranges": "bytes",
      etag: tag,
    });
    expect(await account.used()).to.deep.equal({ create: 1, writes: 1, reads: 1 });
  });

  it("gives HEAD with the same headers and no bytes", async () => {
    const read = await download(client, content, {}, "HEAD");
    expect(read.status).to.equal(200);
    expect(read.bytes).to.have.length(0);
    expect(Object.fromEntries(read.headers)).to.include({
      "content-length": String(bytes.length),
      "content-type": "application/pdf",
      etag: tag,
    });
  });

  it("returns 304 to a client that has the content", async () => {
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
      const read = await download(client, content, { "If-None-Match": known });
      expect(read.status, known).to.equal(304);
      expect(read.bytes).to.have.length(0);
      expect(read.headers.get("etag")).to.equal(tag);
    }
    expect((await download(client, content, { "If-None-Match": '"other"' })).status).to.equal(200);
  });

  const size = bytes.length;
  const RANGES: [string, number, number][] = [
    ["bytes=0-0", 0, 1],
    ["bytes=10-99", 10, 100],
    ["bytes=261119-261121", 261_119, 261_122],
    [`bytes=${size - 1}-`, size - 1, size],
    ["bytes=1-", 1, size],
    ["bytes=-5", size - 5, size],
    [`bytes=-${size + 5}`, 0, size],
    [`bytes=5-${size + 5}`, 5, size],
    ["BYTES=0-1", 0, 2],
  ];
  for (const [range, start, end] of RANGES) {
    it(`returns 206 for the range ${range}`, async () => {
      const read = await download(client, content, { Range: range });
      expect(read.status).to.equal(206);
      expect(read.headers.get("content-range")).to.equal(`bytes ${start}-${end - 1}/${size}`);
      expect(read.headers.get("content-length")).to.equal(String(end - start));
      expect(read.bytes.equals(bytes.subarray(start, end))).to.equal(true);
    });
  }

  for (const range of [`bytes=${size}-`, "bytes=-0", `bytes=${size + 1}-${size + 2}`]) {
    it(`returns 416 for the range ${range}`, async () => {
      const refused = await client.get(content, { Range: range });
      expectProblem(refused, 416, "range_not_satisfiable");
      expect(refused.headers.get("content-range")).to.equal(`bytes */${size}`);
    });
  }

  for (const range of ["bytes=0-0,5-6", "bytes=5-2", "bytes=-", "bytes=a-b", "lines=1-2", "0-5"]) {
    it(`returns 200 with the whole content for the range ${range}`, async () => {
      const read = await download(client, content, { Range: range });
      expect(read.status).to.equal(200);
      expect(read.bytes.equals(bytes)).to.equal(true);
    });
  }

  it("returns 206 only if If-Range names the current version, else 200 with the whole content", async () => {
    expect((await download(client, content, { Range: "bytes=0-1", "If-Range": tag })).status).to.equal(206);
    for (const other of ['"other"', `W/${tag}`, "Wed, 21 Oct 2026 07:28:00 GMT"]) {
      expect((await download(client, content, { Range: "bytes=0-1", "If-Range": other })).status, other).to.equal(200);
    }
  });

  it("finishes a download that began before the content was replaced, with the old bytes", async () => {
    const response = await fetch(client.url + content, { headers: { Authorization: `Bearer ${client.key}` } });
    await put(client, content, "new");
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).to.equal(true);
    expect((await download(client, content)).bytes.toString()).to.equal("new");
  });

  it("still responds while the candidate is withdrawn, and for an accepted document", async () => {
    await client.patch(document, { state: "accepted" });
    await client.patch(document.replace(/\/documents.*/, ""), { withdrawn: true });
    expect((await download(client, content)).bytes.equals(bytes)).to.equal(true);
  });

  it("returns 500 if it cannot read the first bytes, disconnects if it cannot read later ones, and logs both", async () => {
    const { db } = service.operators.mongo;
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on("warning", note);
    await put(client, content, randomBytes(8 * 1024 * 1024));
    const [file] = await db.collection("content.files").find().sort({ uploadDate: -1 }).limit(1).toArray();
    const read = request(client.url + content, { headers: { Authorization: `Bearer ${client.key}` } }).end();
    const [response] = (await once(read, "response")) as [IncomingMessage];
    await db.collection("content.chunks").deleteMany({ files_id: file?._id });
    const answer = await client.get(content);
    const failed = expectProblem(answer, 500, "internal_error");
    const cut = await buffer(response).catch((error: Error) => error);
    expect(cut).to.be.an("error");
    const failures = service.log
      .filter(({ msg }) => msg === "request failed")
      .map(({ request_id, aborted = false }) => ({ request_id, aborted }));
    expect(failures).to.have.deep.members([
      { request_id: response.headers["x-request-id"], aborted: true },
      { request_id: failed.request_id, aborted: false },
    ]);
    process.off("warning", note);
    expect(warnings, "warnings of Node").to.deep.equal([]);
  });

  it("returns content_not_available before content is uploaded", async () => {
    const empty = await candidateWithDocument(client);
    expectProblem(await client.get(empty.content), 404, "content_not_available");
  });

  it("returns 404 to another account's key", async () => {
    const other = await service.account();
    expectProblem(await other.client.get(content), 404, "not_found");
    expect(await other.used()).to.deep.equal({ reads: 1 });
  });

  it("returns 405 to any other method", async () => {
    const refused = await client.request("DELETE", content);
    expectProblem(refused, 405, "method_not_allowed");
    expect(refused.headers.get("allow")).to.equal("GET, HEAD, PUT");
  });
});
