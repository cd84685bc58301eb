import { expect } from "chai";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { documentIn, download, held, postForm, sendForm } from "./support.ts";

describe("POST /candidates/{id}/documents", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;
  let candidate: string;
  beforeEach(async () => {
    candidate = `/candidates/${(await client.post("/candidates")).body.id}`;
  });

  const data = Buffer.from("bytes").toString("base64");

  it("adds a document that is pending before the start and requested after it", async () => {
    const early = await client.post(`${candidate}/documents`, {
      name: "CV",
      required: false,
      expires_on: "2027-01-31",
      metadata: { a: "1" },
    });
    expect(early.status).to.equal(201);
    expect(early.headers.get("location")).to.equal(`${candidate}/documents/${early.body.id}`);
    expect(early.body).to.deep.include({
      object: "document",
      name: "CV",
      state: "pending",
      required: false,
      expires_on: "2027-01-31",
      metadata: { a: "1" },
      content: null,
    });
    await client.post(`${candidate}/start`);
    const late = await client.post(`${candidate}/documents`, { name: "CV" });
    expect(late.body).to.include({ state: "requested", required: true });
    const { body } = await client.get(candidate);
    expect(body.documents.map(({ id, state }) => [id, state])).to.deep.equal([
      [early.body.id, "requested"],
      [late.body.id, "requested"],
    ]);
    expect(await account.used()).to.deep.equal({ create: 1, writes: 2, start: 1, reads: 1 });
  });

  it("accepts what another system has sent, in JSON and in a form, and a PATCH does not", async () => {
    const chase = { attempts: 2, last_at: "2026-01-02T03:04:05.000Z" };
    const added = await client.post(`${candidate}/documents`, { name: "CV", chase });
    expect(documentIn(added).chase).to.deep.include(chase);
    const form = { name: "CV", chase: JSON.stringify(chase) };
    const file = { bytes: "bytes", filename: "cv.txt" };
    expect(documentIn(await postForm(client, `${candidate}/documents`, form, file)).chase).to.deep.include(chase);
    const patched = await client.patch(`${candidate}/documents/${added.body.id}`, { chase });
    expect(expectProblem(patched, 422, "validation_failed").errors[0]?.detail).to.contain("read-only");
    const before = await held(service);
    const early = { ...form, chase: '{"attempts":2,"last_at":"2999-01-01T00:00:00Z"}' };
    const refused = expectProblem(
      await postForm(client, `${candidate}/documents`, early, file),
      422,
      "validation_failed",
    );
    expect(refused.errors[0]?.pointer).to.equal("/chase/last_at");
    expect(await held(service)).to.deep.equal(before);
  });

  it("accepts content in JSON, and the document is then received", async () => {
    await client.post(`${candidate}/start`);
    const before = await held(service);
    const added = await client.post(`${candidate}/documents`, {
      name: "CV",
      content: { filename: "cv.txt", content_type: "text/plain", data },
    });
    expect(added.body.state).to.equal("received");
    expect(documentIn(added).content).to.include({ filename: "cv.txt", content_type: "text/plain", size: 5 });
    const read = await download(client, `${candidate}/documents/${added.body.id}/content`);
    expect(read.bytes.toString()).to.equal("bytes");
    expect((await held(service)).pending).to.equal(before.pending);
  });

  it("accepts a form with the same fields as JSON, before and after the file", async () => {
    const form = new FormData();
    form.append("required", "false");
    form.append("content", new Blob(["bytes"], { type: "text/plain" }), "cv.txt");
    form.append("name", "CV");
    form.append("metadata", '{"a":"1"}');
    form.append("expires_on", "2027-01-31");
    const added = await sendForm(client, `${candidate}/documents`, form);
    expect(added.status).to.equal(201);
    expect(added.body).to.deep.include({
      name: "CV",
      state: "received",
      required: false,
      expires_on: "2027-01-31",
      metadata: { a: "1" },
    });
    expect(documentIn(added).content).to.include({ filename: "cv.txt", content_type: "text/plain", size: 5 });
    expect((await client.get(candidate)).body.documents[0]).to.deep.equal(added.body);
  });

  it("accepts a form without a file", async () => {
    const without = await postForm(client, `${candidate}/documents`, { name: "CV" });
    expect(without.body).to.include({ state: "pending", content: null });
  });

  it("takes a state of null, or an empty one, as none", async () => {
    for (const state of [null, ""]) {
      const { status, body } = await client.post(`${candidate}/documents`, { name: "CV", state });
      expect({ status, state: body.state }).to.deep.equal({ status: 201, state: "pending" });
    }
  });

  it("refuses an empty file, and keeps nothing", async () => {
    const before = await held(service);
    const responses = [
      await postForm(client, `${candidate}/documents`, { name: "CV" }, { bytes: "" }),
      await client.post(`${candidate}/documents`, { name: "CV", content: { data: "" } }),
    ];
    for (const response of responses)
      expect(expectProblem(response, 422, "validation_failed").errors).to.have.length(1);
    expect(await held(service)).to.deep.equal(before);
    expect((await client.get(candidate)).body.documents).to.deep.equal([]);
  });

  it("accepts 200 documents and no more", async () => {
    const full = `/candidates/${(await client.post("/candidates", { documents: Array.from({ length: 199 }, () => "d") })).body.id}`;
    const last = await postForm(
      client,
      `${full}/documents`,
      { name: "d" },
      { bytes: "200" },
      { "Idempotency-Key": "last" },
    );
    expect(last.status).to.equal(201);
    const before = await held(service);
    expectProblem(await client.post(`${full}/documents`, { name: "d" }), 409, "too_many_documents");
    expectProblem(
      await postForm(client, `${full}/documents`, { name: "d" }, { bytes: "201" }),
      409,
      "too_many_documents",
    );
    const again = await postForm(
      client,
      `${full}/documents`,
      { name: "d" },
      { bytes: "200" },
      { "Idempotency-Key": "last" },
    );
    expect(again.headers.get("idempotent-replayed")).to.equal("true");
    expect(again.body).to.deep.equal(last.body);
    expect(await held(service)).to.deep.equal(before);
  });

  it("recognises the form of a retry by its content, not by its boundary", async () => {
    const key = { "Idempotency-Key": "form" };
    const first = await postForm(
      client,
      `${candidate}/documents`,
      { name: "CV", required: "true" },
      { bytes: "one" },
      key,
    );
    const retry = await postForm(
      client,
      `${candidate}/documents`,
      { required: "true", name: "CV" },
      { bytes: "one" },
      key,
    );
    expect(retry.body).to.deep.equal(first.body);
    const other = await postForm(
      client,
      `${candidate}/documents`,
      { name: "CV", required: "true" },
      { bytes: "two" },
      key,
    );
    expectProblem(other, 422, "idempotency_key_reused");
    expect((await client.get(candidate)).body.documents).to.have.length(1);
  });

  it("accepts a document while the candidate is withdrawn", async () => {
    await client.patch(candidate, { withdrawn: true });
    const responses = [
      await client.post(`${candidate}/documents`, { name: "CV" }),
      await client.post(`${candidate}/documents`, { name: "CV", content: { data } }),
      await postForm(client, `${candidate}/documents`, { name: "CV" }, { bytes: "x" }),
    ];
    expect(responses.map(({ status }) => status)).to.deep.equal([201, 201, 201]);
    expect((await client.get(candidate)).body).to.include({ state: "withdrawn" });
  });

  it("honours If-Match with the candidate's ETag", async () => {
    const stale = (await client.get(candidate)).headers.get("etag") ?? "";
    await client.patch(candidate, { name: "Zoë" });
    const fresh = (await client.get(candidate)).headers.get("etag") ?? "";
    expectProblem(
      await client.post(`${candidate}/documents`, { name: "CV" }, { "If-Match": stale }),
      412,
      "version_mismatch",
    );
    expect((await client.post(`${candidate}/documents`, { name: "CV" }, { "If-Match": fresh })).status).to.equal(201);
  });

  it("returns 404 to another account's key", async () => {
    const other = await service.account();
    const before = await held(service);
    const missing = expectProblem(
      await other.client.post("/candidates/cand_none/documents", { name: "CV" }),
      404,
      "not_found",
    );
    const theirs = expectProblem(await other.client.post(`${candidate}/documents`, { name: "CV" }), 404, "not_found");
    expect(theirs.detail.replace(candidate.slice("/candidates/".length), "cand_none")).to.equal(missing.detail);
    expectProblem(
      await postForm(other.client, `${candidate}/documents`, { name: "CV" }, { bytes: "x" }),
      404,
      "not_found",
    );
    expect(await held(service)).to.deep.equal(before);
    expect(await other.used()).to.deep.equal({ writes: 3 });
  });

  // test/responses/document-steps.ts has the others.
  const REFUSED: [string, unknown, string][] = [
    ["a name of 501 characters", { name: "😀".repeat(501) }, "/name"],
    [
      "an invalid content type",
      { name: "CV", content: { content_type: "text/html\r\nX: y", data } },
      "/content/content_type",
    ],
  ];
  for (const [what, json, pointer] of REFUSED) {
    it(`refuses ${what}`, async () => {
      const { errors } = expectProblem(await client.post(`${candidate}/documents`, json), 422, "validation_failed");
      expect(errors[0]?.pointer).to.equal(pointer);
    });
  }
});
