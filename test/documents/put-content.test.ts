import { createHash, randomBytes } from "node:crypto";
import { expect } from "chai";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { answerTo, candidateWithDocument, documentIn, download, held, opened, put } from "./support.ts";

describe("PUT /candidates/{id}/documents/{docId}/content", () => {
  const service = useService({ MAX_DOCUMENT_BYTES: 100_000 });
  const account = useAccount(service);
  const { client } = account;
  let candidate: string;
  let document: string;
  let content: string;
  beforeEach(async () => {
    ({ candidate, document, content } = await candidateWithDocument(client));
  });

  it("makes a document received, and responds with what was stored", async () => {
    const stored = await put(client, content, "%PDF", { "Content-Disposition": 'attachment; filename="a.pdf"' });
    expect(stored.status).to.equal(200);
    expect(stored.body.state).to.equal("received");
    const sha256 = createHash("sha256").update("%PDF").digest("hex");
    expect(documentIn(stored).content).to.deep.equal({
      filename: "a.pdf",
      content_type: "application/pdf",
      size: 4,
      sha256,
      etag: `"${sha256}"`,
      uploaded_at: documentIn(stored).updated_at,
    });
    expect((await client.get(candidate)).body.documents[0]).to.deep.equal(stored.body);
    expect(await account.used()).to.deep.equal({ create: 1, writes: 1, reads: 1 });
  });

  it("accepts bytes without a Content-Type", async () => {
    const untyped = await client.request("PUT", content, { body: new Uint8Array([0, 255]) });
    expect(documentIn(untyped).content).to.include({
      content_type: "application/octet-stream",
      filename: null,
      size: 2,
    });
  });

  it("refuses an empty body, and keeps the content that is there", async () => {
    await put(client, content, "one");
    const before = await held(service);
    const { detail } = expectProblem(await client.request("PUT", content), 422, "validation_failed");
    expect(detail).to.contain("empty");
    expect(await held(service)).to.deep.equal(before);
    expect((await download(client, content)).bytes.toString()).to.equal("one");
  });

  it("makes a rejected document received again, and removes its rejection_reason", async () => {
    await put(client, content, "one");
    await client.patch(document, { state: "rejected", rejection_reason: "blurred" });
    expect((await put(client, content, "two")).body).to.include({ state: "received", rejection_reason: null });
  });

  it("replaces the content of a received document, and leaves the old bytes to the sweep", async () => {
    await put(client, content, "one");
    const before = await held(service);
    const replaced = await put(client, content, "two");
    expect(replaced.body.state).to.equal("received");
    expect((await download(client, content)).bytes.toString()).to.equal("two");
    expect((await held(service)).pending).to.equal(before.pending + 1);
  });

  it("writes nothing if the content is the same", async () => {
    const first = await put(client, content, "one");
    const before = await held(service);
    const again = await put(client, content, "one");
    expect(again.body).to.deep.equal(first.body);
    expect(await held(service)).to.deep.equal(before);
    expect((await download(client, content)).bytes.toString()).to.equal("one");
  });

  for (const state of ["waived", "cancelled"]) {
    it(`refuses content for a document that is ${state}`, async () => {
      await put(client, content, "one");
      await client.patch(document, { state });
      const before = await held(service);
      const refused = expectProblem(await put(client, content, "two"), 409, "invalid_transition");
      expect(refused).to.include({ from: state, to: "received" });
      expect(refused.allowed).to.have.members(["pending", "received", "accepted", "rejected", "expired"]);
      expect((await download(client, content)).bytes.toString()).to.equal("one");
      expect(await held(service)).to.deep.equal(before);
      await client.patch(document, { state: "received" });
      expect((await put(client, content, "two")).status).to.equal(200);
    });
  }

  it("accepts content while the candidate is withdrawn", async () => {
    await client.patch(candidate, { withdrawn: true });
    expect((await put(client, content, "one")).body.state).to.equal("received");
    expect((await client.get(candidate)).body.state).to.equal("withdrawn");
  });

  it("honours If-Match, and keeps nothing of a refused upload", async () => {
    const stale = (await client.patch(document, { name: "Visa" })).headers.get("etag") ?? "";
    await put(client, content, "one");
    const before = await held(service);
    expectProblem(await put(client, content, "two", { "If-Match": stale }), 412, "version_mismatch");
    expect(await held(service)).to.deep.equal(before);
    expect((await download(client, content)).bytes.toString()).to.equal("one");
  });

  it("refuses a stale If-Match before the upload has been sent", async () => {
    const headers = { "Content-Type": "application/pdf", "Content-Length": 1_000, "If-Match": '"stale"' };
    const sent = opened(client, "PUT", content, headers);
    const { status, body } = await answerTo(sent);
    sent.destroy();
    expect([status, body.code]).to.deep.equal([412, "version_mismatch"]);
  });

  it("refuses a Content-Length that is too large before the upload has been sent", async () => {
    const upload = opened(client, "PUT", content, { "Content-Type": "text/plain", "Content-Length": 100_001 });
    expect(await answerTo(upload)).to.deep.include({ status: 413 });
    upload.destroy();
  });

  it("accepts the content's own ETag in If-Match, as long as it is current", async () => {
    const { content: first } = documentIn(await put(client, content, "one"));
    const tag = (await download(client, content)).headers.get("etag") ?? "";
    expect(tag).to.equal(first?.etag);
    expect((await put(client, content, "two", { "If-Match": tag })).status).to.equal(200);
    expectProblem(await put(client, content, "three", { "If-Match": tag }), 412, "version_mismatch");
    expect((await download(client, content)).bytes.toString()).to.equal("two");
    const ofTwo = `"${createHash("sha256").update("two").digest("hex")}"`;
    expectProblem(
      await client.request("PATCH", document, { json: { name: "Visa" }, headers: { "If-Match": ofTwo } }),
      412,
      "version_mismatch",
    );
  });

  it("returns 404 to another account's key, and for an unknown document", async () => {
    const other = await service.account();
    expectProblem(await put(other.client, content, "theirs"), 404, "not_found");
    expectProblem(await put(client, `${candidate}/documents/doc_none/content`, "one"), 404, "not_found");
    expectProblem(await client.get(content), 404, "content_not_available");
  });

  it("accepts a file of the maximum size, and not one byte more, with or without a Content-Length", async () => {
    const largest = randomBytes(100_000);
    expect(documentIn(await put(client, content, largest)).content).to.include({ size: 100_000 });
    const more = new Uint8Array(100_001);
    const before = await held(service);
    const refused = expectProblem(await put(client, content, more), 413, "payload_too_large");
    expect(refused.detail).to.contain("100000");
    for (const wrong of [{ "Content-Type": "multipart/form-data" }, { "Content-Disposition": ";" }])
      expectProblem(await put(client, content, more, wrong), 413, "payload_too_large"); // the size goes before other faults
    const undeclared = new Blob([more]).stream();
    expectProblem(await client.request("PUT", content, { body: undeclared }), 413, "payload_too_large");
    expect(await held(service)).to.deep.equal(before);
    expect((await download(client, content)).bytes.equals(largest)).to.equal(true);
  });

  it("stores one of ten concurrent uploads, and never mixes their bytes", async () => {
    const files = Array.from({ length: 10 }, () => randomBytes(90_000));
    const responses = await Promise.all(files.map((bytes) => put(client, content, bytes)));
    expect(responses.map(({ status }) => status)).to.deep.equal(files.map(() => 200));
    const { bytes, headers } = await download(client, content);
    const winner = files.find((file) => file.equals(bytes));
    expect(winner).not.to.equal(undefined);
    const shown = (await client.get(candidate)).body.documents[0]?.content;
    expect(shown).to.include({
      size: 90_000,
      etag: headers.get("etag"),
      sha256: createHash("sha256").update(bytes).digest("hex"),
    });
  });

  const REFUSED: [string, Record<string, string>, number, string][] = [
    ["a compressed body", { "Content-Encoding": "gzip" }, 415, "unsupported_media_type"],
    ["a form", { "Content-Type": "multipart/form-data; boundary=x" }, 415, "unsupported_media_type"],
    ["an invalid Content-Type", { "Content-Type": "pdf" }, 415, "unsupported_media_type"],
    ["an invalid Content-Disposition", { "Content-Disposition": "attachment; filename" }, 422, "validation_failed"],
    [
      "a filename of 501 characters",
      { "Content-Disposition": `attachment; filename*=UTF-8''${"%F0%9F%98%80".repeat(501)}` },
      422,
      "validation_failed",
    ],
  ];
  for (const [what, headers, status, code] of REFUSED) {
    it(`refuses ${what}, and serves the next request`, async () => {
      expectProblem(await put(client, content, "bytes", headers), status, code);
      expect((await put(client, content, "bytes")).status).to.equal(200);
    });
  }
});
