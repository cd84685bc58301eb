import { author } from "../support/records.ts";
import { expect } from "chai";
import { CandidateStore } from "../../src/candidates/store.ts";
import { SharedClock } from "../../src/infra/clock.ts";
import { until } from "../erasure/support.ts";
import { expectProblem } from "../support/client.ts";
import { candidateWithExpiry } from "../sweeps/support.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { answerTo, candidateWithDocument, documentIn, held, opened, put } from "./support.ts";

describe("an upload of content", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;
  let document: string;
  let content: string;
  beforeEach(async () => {
    ({ document, content } = await candidateWithDocument(client));
  });

  /** Sends a part of an upload, runs this, then sends the rest. Returns the response. */
  async function during(change: () => Promise<unknown>, headers: Record<string, string> = {}) {
    const before = await held(service);
    const upload = opened(client, "PUT", content, { ...headers, "Content-Type": "a/b", "Content-Length": 600_000 });
    upload.write(Buffer.alloc(500_000));
    await until(async () => (await held(service)).chunks > before.chunks);
    await change();
    const response = answerTo(upload);
    upload.end(Buffer.alloc(100_000));
    return response;
  }

  it("is refused before it is sent if the document takes no content", async () => {
    await client.patch(document, { state: "waived" });
    const upload = opened(client, "PUT", content, { "Content-Type": "a/b", "Content-Length": 1_000 });
    const { status, body } = await answerTo(upload);
    upload.destroy();
    expect([status, body.code]).to.deep.equal([409, "invalid_transition"]);
  });

  it("is refused at its end if the document is waived meanwhile", async () => {
    const { status, body } = await during(() => client.patch(document, { state: "waived" }));
    expect([status, body.code]).to.deep.equal([409, "invalid_transition"]);
    expect((await client.get(document)).body).to.include({ state: "waived", content: null });
  });

  it("is refused at its end if the document is changed meanwhile and it has an If-Match", async () => {
    const etag = (await client.get(document)).headers.get("etag") ?? "";
    const { status, body } = await during(() => client.patch(document, { name: "Visa" }), { "If-Match": etag });
    expect([status, body.code]).to.deep.equal([412, "version_mismatch"]);
    expect((await client.get(document)).body).to.deep.include({ name: "Visa", content: null });
  });

  it("changes the name and the type of a file whose bytes are the same", async () => {
    await put(client, content, "same", { "Content-Disposition": 'attachment; filename="a.pdf"' });
    const renamed = await put(client, content, "same", { "Content-Disposition": 'attachment; filename="b.pdf"' });
    expect(documentIn(renamed).content).to.include({ filename: "b.pdf", content_type: "application/pdf" });
    const headers = { "Content-Disposition": 'attachment; filename="b.pdf"', "Content-Type": "text/plain" };
    expect(documentIn(await put(client, content, "same", headers)).content).to.include({ content_type: "text/plain" });
  });

  it("makes an accepted document received again, also with the same bytes", async () => {
    await put(client, content, "same");
    await client.patch(document, { state: "accepted" });
    expect((await put(client, content, "same")).body.state).to.equal("received");
  });
});

describe("a document that contradicts itself", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;

  it("is refused if it is new and takes no content or no reason", async () => {
    const { id } = (await client.post("/candidates")).body;
    const path = `/candidates/${id}/documents`;
    const content = { data: Buffer.from("a").toString("base64") };
    const withContent = await client.post(path, { name: "CV", state: "waived", content });
    expectProblem(withContent, 409, "invalid_transition");
    const withReason = await client.post(path, { name: "CV", state: "waived", rejection_reason: "blurred" });
    expectProblem(withReason, 422, "validation_failed");
    expectProblem(await client.post(path, { name: "CV", state: "requested" }), 409, "invalid_transition");
    const past = await client.post(path, { name: "CV", state: "accepted", expires_on: "2020-01-31" });
    expectProblem(past, 409, "invalid_transition");
    expect((await client.get(`/candidates/${id}`)).body.documents).to.deep.equal([]);
    const inCreate = await client.post("/candidates", { documents: [{ name: "CV", state: "waived", content }] });
    expectProblem(inCreate, 409, "invalid_transition");
  });

  it("is refused before any content in its request is read", async () => {
    const [empty, content] = [{ name: "CV", content: { data: "" } }, { data: "AAAA" }];
    const response = await client.post("/candidates", { documents: [empty, { name: "CV", state: "waived", content }] });
    expectProblem(response, 409, "invalid_transition");
  });

  it("leaves nothing of the documents before it if its candidate is refused because of it", async () => {
    const before = await held(service);
    const [good, empty] = ["AAAA", ""].map((data) => ({ name: "CV", content: { data } }));
    expectProblem(await client.post("/candidates", { documents: [good, empty] }), 422, "validation_failed");
    expect(await held(service)).to.deep.equal(before);
  });

  it("may be edited in other fields if its expires_on has passed since it was accepted", async () => {
    const store = new CandidateStore(service.operators.mongo, new SharedClock());
    const { id, documents } = await store.insert(candidateWithExpiry(account.id, "2020-01-31"), author());
    const edited = await client.patch(`/candidates/${id}/documents/${documents[0]?.id}`, { name: "Visa" });
    expect(edited.status).to.equal(200);
    expect(edited.body.name).to.equal("Visa");
  });
});
