import { randomBytes, randomUUID } from "node:crypto";
import { expect } from "chai";
import { ObjectId } from "mongodb";
import { AuditStore } from "../../src/audit/store.ts";
import { eraserOf } from "../../src/candidates/eraser.ts";
import { AddressHash } from "../../src/reminders/address-hash.ts";
import { reminderStores } from "../../src/reminders/stores.ts";
import { CandidateStore } from "../../src/candidates/store.ts";
import { ContentStore, type FileOwner, type PendingFile } from "../../src/content/store.ts";
import { idempotencyService } from "../../src/idempotency/idempotency.ts";
import { IdempotencyStore } from "../../src/idempotency/store.ts";
import { answerTo, download, held, opened } from "../documents/support.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { filesIn, tracesIn, until } from "./support.ts";

const REFERENCE = {
  name: "Philippa Underhill",
  email: "philippa@underhill.example",
  response: { text: "splendid chap" },
};
const DOCUMENT = {
  name: "Passport of Zebediah",
  metadata: { number: "X-90210-Z" },
  content: { filename: "Zebediah.txt", content_type: "text/plain", data: Buffer.from("Zebediah").toString("base64") },
};

describe("DELETE of a document or a reference", () => {
  const service = useService({ LIMIT_SCALE: 100 });
  const account = useAccount(service);
  const { client } = account;

  /** A candidate with a document and a reference, each brought by a POST that may be retried. */
  async function createCandidate() {
    const creation = { "Idempotency-Key": randomUUID() };
    const given = { name: "Ada", documents: ["CV"], references: [{ name: "Ann" }] };
    const { id } = (await client.post("/candidates", given, creation)).body;
    const path = `/candidates/${id}`;
    const documentKey = { "Idempotency-Key": randomUUID() };
    const document = (await client.post(`${path}/documents`, DOCUMENT, documentKey)).body;
    // The content that this replaces is kept for its readers for a while.
    const replacement = { headers: { "Content-Type": "text/plain" }, body: Buffer.from("Zebediah once more") };
    await client.request("PUT", `${path}/documents/${document.id}/content`, replacement);
    const referenceKey = { "Idempotency-Key": randomUUID() };
    const reference = (await client.post(`${path}/references`, REFERENCE, referenceKey)).body;
    const start = { "Idempotency-Key": randomUUID() };
    await client.post(`${path}/start`, undefined, start);
    return {
      given,
      path,
      creation,
      start,
      documentKey,
      referenceKey,
      document: `${path}/documents/${document.id}`,
      reference: `/references/${reference.id}`,
    };
  }

  it("leaves none of its strings in any collection, and the candidate without it", async () => {
    const { path, document, reference } = await createCandidate();
    const { mongo } = service.operators;
    const files = await filesIn(mongo);
    expect(await tracesIn(mongo)).to.include.members([
      "candidates: Zebediah",
      "candidates: Underhill",
      "idempotency_records: Zebediah",
      "idempotency_records: Underhill",
      "content.chunks: Zebediah",
    ]);
    const before = (await client.get(path)).body;
    expect((await client.request("DELETE", document)).status).to.equal(204);
    expect((await client.request("DELETE", reference)).status).to.equal(204);
    expect(await tracesIn(mongo, { files })).to.deep.equal([]);
    const after = (await client.get(path)).body;
    expect(after.documents.map(({ name }) => name)).to.deep.equal(["CV"]);
    expect(after.references.map(({ name }) => name)).to.deep.equal(["Ann"]);
    expect(after.version).to.equal(before.version + 2);
    expect(after.pack_version).to.equal(before.pack_version + 2);
    expect(after.reference_requirements.required).to.equal(1);
  });

  it("returns 404 on its paths, and to another DELETE", async () => {
    const { document, reference } = await createCandidate();
    for (const path of [document, reference]) await client.request("DELETE", path);
    const answers = [
      await client.get(document),
      await client.patch(document, { name: "Visa" }),
      await client.request("PUT", `${document}/content`, { body: Buffer.from("x") }),
      await client.get(`${document}/content`),
      await client.request("DELETE", document),
      await client.get(reference),
      await client.patch(reference, { name: "Zoe" }),
      await client.request("DELETE", reference),
    ];
    for (const answer of answers) expectProblem(answer, 404, "not_found");
  });

  it("stays deleted if its POST is retried, and other retries return what is there now", async () => {
    const { path, given, creation, start, documentKey, referenceKey, document, reference } = await createCandidate();
    for (const each of [document, reference]) await client.request("DELETE", each);
    const now = (await client.get(path)).body;
    expectProblem(await client.post(`${path}/documents`, DOCUMENT, documentKey), 404, "not_found");
    expectProblem(await client.post(`${path}/references`, REFERENCE, referenceKey), 404, "not_found");
    const created = await client.post("/candidates", given, creation);
    expect(created.status).to.equal(201);
    expect(created.body).to.deep.equal(now);
    const started = await client.post(`${path}/start`, undefined, start);
    expect(started.status).to.equal(200);
    expect(started.body).to.deep.equal(now);
    expect((await client.get(path)).body).to.deep.equal(now);
  });

  it("returns 412 if If-Match names an older version", async () => {
    const { path, document, reference } = await createCandidate();
    for (const each of [document, reference]) {
      expectProblem(
        await client.request("DELETE", each, { headers: { "If-Match": '"old"' } }),
        412,
        "version_mismatch",
      );
      const etag = (await client.get(each === document ? path : each)).headers.get("etag") ?? "";
      expect((await client.request("DELETE", each, { headers: { "If-Match": etag } })).status).to.equal(204);
    }
  });

  it("writes one audit entry for each deletion", async () => {
    const { document, reference } = await createCandidate();
    for (const each of [document, reference]) await client.request("DELETE", each);
    const { data } = await service.operators.audit.list(100, account.id);
    for (const [path, action] of [
      [document, "documents delete"],
      [reference, "references delete"],
    ] as const) {
      const entries = data.filter(({ subject }) => path.endsWith(subject));
      expect(entries).to.have.length(1);
      expect(entries[0]).to.include({ actor: account.keyId, action, outcome: "done" });
    }
  });

  it("is 404 for another account's, and leaves it alone", async () => {
    const { document, reference } = await createCandidate();
    const other = await service.account();
    for (const each of [document, reference]) {
      expectProblem(await other.client.request("DELETE", each), 404, "not_found");
      expect((await client.get(each)).status).to.equal(200);
    }
  });

  it("makes an upload in progress fail, and removes its bytes", async () => {
    const { document } = await createCandidate();
    const { mongo } = service.operators;
    const before = await held(service);
    const upload = opened(client, "PUT", `${document}/content`, {
      "Content-Type": "text/plain",
      "Content-Length": 1_000_000,
    });
    upload.write(Buffer.alloc(600_000, "Nebuchadnezzar"));
    await until(async () => (await held(service)).chunks > before.chunks);
    const files = (await mongo.db.collection("content_pending").find().toArray()).map(
      ({ _id }) => new ObjectId(String(_id)),
    );
    expect(await tracesIn(mongo, { strings: ["Nebuchadnezzar"], files })).to.have.length(1);
    expect((await client.request("DELETE", document)).status).to.equal(204);
    const answer = answerTo(upload);
    upload.end(Buffer.alloc(400_000, "Nebuchadnezzar"));
    expect(await answer).to.deep.include({ status: 404 });
    expect(await tracesIn(mongo, { strings: ["Nebuchadnezzar"], files })).to.deep.equal([]);
  });

  it("leaves the content of another document alone that an upload replaces meanwhile and is then refused", async () => {
    const { path, document } = await createCandidate();
    const { mongo } = service.operators;
    const clock = { now: Date.now };
    const store = new CandidateStore(mongo, clock);
    const owner = { accountId: account.id, candidateId: path.slice("/candidates/".length) };
    const other = (await client.post(`${path}/documents`, { name: "Visa" })).body;
    const content = `${path}/documents/${other.id}/content`;
    class RacedContent extends ContentStore {
      override async unsettled(of: FileOwner): Promise<PendingFile[]> {
        await client.request("PUT", content, { body: Buffer.from("kept") });
        const { documents } = await store.reader.get(of.accountId, of.candidateId);
        // An upload lists the content that it is about to replace before it writes.
        await this.replaced(documents.find(({ id }) => id === other.id)?.content?.file_id ?? "", of);
        return super.unsettled(of);
      }
    }
    const eraser = eraserOf({
      store,
      content: new RacedContent(mongo, clock),
      idempotency: idempotencyService({ store: new IdempotencyStore(mongo), clock, random: randomBytes }),
      audit: new AuditStore(mongo, clock),
      messages: reminderStores(mongo, new AddressHash(randomBytes(32)), randomBytes),
    });
    const caller = { ...owner, keyId: account.keyId, by: { type: "key", id: account.keyId } } as const;
    const part = { candidate: owner.candidateId, kind: "documents", id: document.split("/").at(-1) ?? "" } as const;
    await eraser.removePart(caller, part, () => {});
    expect((await client.get(document)).status).to.equal(404);
    expect((await download(client, content)).bytes.toString()).to.equal("kept");
  });
});
