import { expect } from "chai";
import { OnboardingClient, ProblemError } from "../../src/client/index.ts";
import contract from "../api/openapi.snapshot.json" with { type: "json" };
import { useAccount, useService } from "../support/use-service.ts";
import { errorOf } from "./support.ts";

const PDF = new TextEncoder().encode("%PDF-1.7 a CV");

describe("the client", () => {
  const service = useService();
  const account = useAccount(service);
  let client: OnboardingClient;
  beforeEach(() => {
    client = new OnboardingClient({ baseUrl: service.url, apiKey: account.key });
  });

  it("has a method for each operation of the contract", () => {
    const operations = Object.values(contract.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }: { operationId: string }) => operationId),
    );
    expect(Object.getOwnPropertyNames(OnboardingClient.prototype)).to.have.members([
      ...operations,
      "constructor",
      "mirror",
      "sync",
      "downloadPack",
    ]);
  });

  it("creates, reads, changes, starts and erases a candidate", async () => {
    const { id, version } = await client.createCandidate({ name: "Ada", external_id: "1" });
    expect(await client.readCandidate(id)).to.deep.include({ id, name: "Ada", version });
    expect(await client.updateCandidate(id, { name: null })).to.include({ name: null });
    expect(await client.setOutreach(id, { docs_chase_attempts: 7 })).to.include({ docs_chase_attempts: 7 });
    expect(await client.startCandidate(id)).to.include({ state: "in_progress" });
    expect(await client.readOutreach(id)).to.deep.include({ candidate_id: id, messages: [] });
    const { data } = await client.listCandidates({ external_id: "1", limit: 5 });
    expect(data.map((row) => row.id)).to.deep.equal([id]);
    expect(await client.deleteCandidate(id)).to.equal(undefined);
    expect(await errorOf(client.readCandidate(id))).to.include({ status: 410, code: "candidate_deleted" });
    expect(await account.used()).to.deep.equal({ create: 1, reads: 3, writes: 3, start: 1, list: 1 });
  });

  it("says what a creation would do", async () => {
    const { would_create } = await client.createCandidate({ name: "Ada" }, { dryRun: true });
    expect(would_create).to.include({ name: "Ada" });
    expect(await account.used()).to.deep.equal({ reads: 1 });
  });

  it("creates and changes many candidates, each of which may fail alone", async () => {
    const made = await client.createCandidates([{ external_id: "1" }, { email: "no address" }]);
    expect(made).to.include({ created: 1, failed: 1 });
    expect(made.results[1]?.problem).to.include({ code: "validation_failed" });
    const rows = [{ external_id: "1", phone: "555" }, { external_id: "2" }];
    const brought = await client.createCandidates(rows, { onConflict: "update", unreadable: "metadata" });
    expect(brought).to.include({ created: 1, updated: 1 });
    const id = brought.results[0]?.id ?? "";
    const changed = await client.updateCandidates([
      { id, name: "Ada" },
      { external_id: "2", name: "Eve" },
    ]);
    expect(changed).to.include({ updated: 2, failed: 0 });
    expect(await client.readCandidate("external:1")).to.deep.include({ id, metadata: { "unreadable.phone": "555" } });
    expect(await account.used()).to.deep.equal({ create: 4, writes: 2, reads: 1 });
  });

  it("takes an external_id in the place of an id, and says what to do if it is taken", async () => {
    const { id } = await client.createCandidate({ external_id: "ats/1", name: "Ada" });
    expect(await client.updateCandidate("external:ats/1", { job_title: "Nurse" })).to.include({ id });
    const again = { external_id: "ats/1", name: "Eve", email: "eve@" };
    expect(await client.createCandidate(again, { onConflict: "skip", unreadable: "metadata" })).to.include({
      id,
      name: "Ada",
    });
    const options = { onConflict: "update", unreadable: "metadata", dryRun: true } as const;
    expect((await client.createCandidate(again, options)).outcome).to.equal("updated");
    await client.deleteCandidate("external:ats/1");
    expect(await errorOf(client.readCandidate("external:ats/1"))).to.include({ code: "not_found" });
  });

  it("adds, reads, changes and deletes documents and references", async () => {
    const { id } = await client.createCandidate({});
    const document = await client.addDocument(id, { name: "CV" });
    expect(await client.readDocument(id, document.id)).to.deep.equal(document);
    expect(await client.updateDocument(id, document.id, { name: "Résumé" })).to.include({ name: "Résumé" });
    await client.deleteDocument(id, document.id);
    const reference = await client.addReference(id, { name: "Ann" });
    expect(await client.readReference(reference.id)).to.deep.equal(reference);
    expect(await client.updateReference(reference.id, { company: "Acme" })).to.include({ company: "Acme" });
    await client.deleteReference(reference.id);
    expect(await client.readCandidate(id)).to.deep.include({ documents: [], references: [] });
    expect(await account.used()).to.deep.equal({ create: 1, writes: 6, reads: 3 });
  });

  it("uploads and downloads content, whole and in part", async () => {
    const { id } = await client.createCandidate({});
    const document = await client.addDocument(
      id,
      { name: "CV", required: false, metadata: { source: "fair" } },
      { file: new File([PDF], "Größe.pdf", { type: "application/pdf" }) },
    );
    expect(document).to.deep.include({ state: "received", required: false, metadata: { source: "fair" } });
    const whole = await client.readDocumentContent(id, document.id);
    expect(whole).to.include({ filename: "Größe.pdf", contentType: "application/pdf", size: PDF.length });
    expect(new Uint8Array(await new Response(whole.body).arrayBuffer())).to.deep.equal(PDF);
    const range = { start: 5, end: 8, ...(whole.etag === undefined ? {} : { etag: whole.etag }) };
    const part = await client.readDocumentContent(id, document.id, { range });
    expect(part.contentRange).to.equal(`bytes 5-7/${PDF.length}`);
    expect(await new Response(part.body).text()).to.equal("1.7");
    for (const nothing of [{ start: 5, end: 5 }, { start: -1 }])
      expect(() => client.readDocumentContent(id, document.id, { range: nothing })).to.throw(RangeError);
    const name = `Mr. "O'Neil" (50%).txt`;
    await client.putDocumentContent(id, document.id, "text", { filename: name, contentType: "text/plain" });
    const replaced = await client.readDocumentContent(id, document.id);
    expect(replaced).to.include({ filename: name, contentType: "text/plain" });
  });

  it("reads the pack as JSON and as a file", async () => {
    const { id } = await client.createCandidate({ name: "Ada" });
    expect((await client.readPack(id)).candidate).to.include({ name: "Ada" });
    const { contentType, body } = await client.downloadPack(id, "zip");
    expect(contentType).to.equal("application/zip");
    expect((await new Response(body).text()).slice(0, 2)).to.equal("PK");
  });

  it("reads and changes both settings, and reads the limits", async () => {
    expect(await client.changeAssistantSettings({ language: "de" })).to.include({ language: "de" });
    expect(await client.readAssistantSettings()).to.include({ language: "de" });
    expect(await client.changeQuietHours({ enabled: true })).to.include({ enabled: true });
    expect(await client.readQuietHours()).to.include({ enabled: true });
    expect((await client.readLimits()).object).to.equal("limits");
    expect((await client.readUsage()).object).to.equal("usage");
    expect(await client.readContract()).to.include({ openapi: "3.1.0" });
    expect(await account.used()).to.deep.equal({ settings: 2, reads: 2 });
  });

  it("creates, lists, reads, changes, tests, rotates and deletes a webhook", async () => {
    const { secret, ...webhook } = await client.createWebhook({ url: "https://ats.example.com/hook" });
    const { id } = webhook;
    expect(await client.readWebhook(id)).to.deep.equal(webhook);
    expect(await client.updateWebhook(id, { enabled: false })).to.include({ enabled: false });
    expect(await client.testWebhook(id)).to.include({ id });
    expect((await client.rotateWebhook(id)).secret)
      .to.match(/^whsec_/)
      .and.not.equal(secret);
    expect((await client.listWebhooks()).data.map((each) => each.id)).to.deep.equal([id]);
    expect(await client.deleteWebhook(id)).to.equal(undefined);
    expect(await errorOf(client.readWebhook(id))).to.include({ code: "not_found" });
    expect(await account.used()).to.deep.equal({ settings: 5, reads: 3 });
  });

  it("gives the ETag of a response, and refuses a write that lost the race", async () => {
    let etag: string | undefined;
    const onAnswer = ({ headers }: { headers: Headers }): void => void (etag = headers.get("etag") ?? undefined);
    const { id } = await client.createCandidate({}, { onAnswer });
    const ifMatch = etag;
    await client.updateCandidate(id, { name: "Ada" }, { ifMatch });
    const error = await errorOf(client.updateCandidate(id, { name: "Eve" }, { ifMatch }));
    expect(error).to.include({ status: 412, code: "version_mismatch" });
  });

  it("throws a problem with its code, its faults and the id of the request", async () => {
    const error = await errorOf(client.createCandidate({ email: "no address" }));
    if (!(error instanceof ProblemError)) throw error;
    expect(error).to.include({ name: "ProblemError", status: 422, code: "validation_failed" });
    expect(error.errors.map(({ pointer }) => pointer)).to.deep.equal(["/email"]);
    expect(error.requestId).to.match(/^req_/);
    expect(error.message).to.match(/email/);
  });
});
