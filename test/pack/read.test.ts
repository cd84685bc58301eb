import { expect } from "chai";
import { type Client, expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { download, happened, packOf, type Download } from "./support.ts";

const FORMS = [
  ["json", "application/json"],
  ["pdf", "application/pdf"],
  ["zip", "application/zip"],
] as const;

describe("GET /candidates/{id}/pack", () => {
  const service = useService({ LIMIT_SCALE: 10 });
  const account = useAccount(service);
  const { client } = account;

  async function candidate(fields: Record<string, unknown> = {}, owner: Client = client): Promise<string> {
    return (await owner.post("/candidates", fields)).body.id;
  }
  const pathOf = (id: string, query = "") => `/candidates/${id}/pack${query}`;

  /** The tests do not change this candidate. Its pack was read once in each format. */
  let ready: string;
  let owner: Client;
  const answers: Record<string, Download> = {};
  before(async () => {
    owner = (await service.account()).client;
    ready = await candidate({ name: "Ann" }, owner);
    for (const [form] of FORMS) answers[form] = await download(owner, pathOf(ready, `?format=${form}`));
  });
  const tagOf = ({ headers }: Download) => headers.get("etag") ?? "";

  describe("as JSON", () => {
    it("shows the candidate, the account, the documents and the references", async () => {
      const content = { filename: "p.pdf", content_type: "application/pdf", data: "Ynl0ZXM=" };
      const id = await candidate({
        name: "Zoë",
        external_id: "e-1",
        documents: [{ name: "Passport", content }],
        references: [{ name: "Ann" }],
      });
      const whole = (await client.get(`/candidates/${id}`)).body;
      const pack = await packOf(client, id);
      expect(pack).to.include({ object: "pack", candidate_id: id, pack_version: 1, complete: false });
      const keys = [{ id: account.keyId, name: "test" }];
      expect(pack.account, "it has received the passport").to.deep.equal({ id: account.id, name: "Test", keys });
      expect(pack.candidate).to.include({ name: "Zoë", external_id: "e-1", state: "created", started_at: null });
      expect(pack.documents, "all but what is planned").to.deep.equal(whole.documents.map(happened));
      expect(pack.documents[0]?.content).to.include({
        size: 5,
        sha256: "277089d91c0bdf4f2e6862ba7e4a07605119431f5d13f726dd352b06f1b206a9",
      });
      expect(pack.references).to.deep.equal(whole.references.map(happened));
      expect(pack.reference_requirements).to.deep.equal({ required: 1, received: 0, outstanding: 1 });
      expect(pack.missing.map(({ code, subject }) => ({ code, subject }))).to.deep.equal(
        whole.waiting_on.map(({ code, subject }) => ({ code, subject })),
      );
      expect(Math.abs(Date.parse(pack.generated_at) - Date.now())).to.be.lessThan(60_000);
    });

    it("shows no field whose changes leave pack_version unchanged", async () => {
      const id = await candidate({ metadata: { a: "1" } });
      const before = await packOf(client, id);
      expect(before.candidate.metadata).to.deep.equal({ a: "1" });
      await client.patch(`/candidates/${id}`, {});
      const { generated_at: _1, ...after } = await packOf(client, id);
      const { generated_at: _2, ...same } = before;
      expect(after).to.deep.equal(same);
    });

    it("is complete if the candidate is, and includes the references' answers", async () => {
      const id = await candidate({ references: [{ name: "Ann", email: "ann@example.com" }] });
      await client.post(`/candidates/${id}/start`);
      const [reference] = (await packOf(client, id)).references;
      const response = { "Would you employ again?": true, notes: { punctual: "always" } };
      await client.patch(`/references/${reference?.id}`, { state: "received", response });
      const pack = await packOf(client, id);
      expect(pack).to.deep.include({ complete: true, missing: [], pack_version: 3 });
      expect(pack.references[0]).to.deep.include({ state: "received", response });
    });

    it("names the referee who has not answered: by name, else by address, never by an id", async () => {
      const id = await candidate({
        references: [{ name: "Ann $& Other", email: "ann@example.com" }, { email: "bo@example.com" }, { name: " " }],
      });
      await client.post(`/candidates/${id}/start`);
      const { missing, references } = await packOf(client, id);
      expect(missing.map(({ message }) => message)).to.deep.equal([
        "Ann $& Other has not answered",
        "bo@example.com has not answered",
        "A referee without a name has no email address",
        "A referee without a name has not answered",
      ]);
      expect(missing.slice(0, 3).map(({ subject }) => subject)).to.deep.equal(
        references.map((reference) => reference.id),
      );
    });

    it("lists what is missing for a withdrawn candidate too", async () => {
      const id = await candidate({ documents: ["Passport"] });
      await client.post(`/candidates/${id}/start`);
      await client.patch(`/candidates/${id}`, { withdrawn: true, withdrawal_reason: "Took another job" });
      const pack = await packOf(client, id);
      expect(pack.candidate).to.include({ state: "withdrawn", withdrawal_reason: "Took another job" });
      expect(pack.complete).to.equal(false);
      expect(pack.missing.map(({ code }) => code)).to.deep.equal(["document_requested"]);
    });

    it("never calls an empty candidate complete", async () => {
      const id = await candidate();
      await client.post(`/candidates/${id}/start`);
      const pack = await packOf(client, id);
      expect(pack.complete).to.equal(false);
      expect(pack.missing).to.deep.equal([
        { code: "nothing_asked_for", subject: id, message: "No document and no reference has been asked for" },
      ]);
    });

    it("never calls a candidate complete whose documents are all waived", async () => {
      const id = await candidate({ documents: [{ name: "CV", state: "waived" }] });
      await client.post(`/candidates/${id}/start`);
      const pack = await packOf(client, id);
      expect(pack.complete).to.equal(false);
      expect(pack.missing.map(({ code }) => code)).to.deep.equal(["not_completed"]);
    });
  });

  describe("content negotiation", () => {
    const CHOICES: [accept: string | undefined, query: string, type: string][] = [
      ["", "", "application/json"],
      ["*/*", "", "application/json"],
      ["application/*", "", "application/json"],
      ["application/pdf", "", "application/pdf"],
      ["application/zip", "", "application/zip"],
      ["application/json;q=0.5, application/pdf;q=0.9", "", "application/pdf"],
      ["text/html, application/xhtml+xml, application/pdf;q=0.8, */*;q=0.1", "", "application/pdf"],
      ["application/json;q=0, */*", "", "application/pdf"],
      ["application/pdf", "?format=json", "application/json"],
      ["text/html", "?format=zip", "application/zip"],
      ["application/json", "?format=pdf", "application/pdf"],
    ];
    const MAGIC = { json: "{", pdf: "%PDF-1.7", zip: "PK\u0003\u0004" };
    for (const [form, type] of FORMS) {
      it(`sends ${type}`, () => {
        const { status, headers, bytes } = answers[form]!;
        expect(status).to.equal(200);
        expect(headers.get("content-type")).to.equal(type);
        expect(Buffer.from(bytes.subarray(0, MAGIC[form].length)).toString("latin1")).to.equal(MAGIC[form]);
      });
    }

    for (const [accept, query, type] of CHOICES) {
      it(`selects ${type} for Accept ${JSON.stringify(accept)} ${query}`, async () => {
        const { status, headers } = await download(owner, pathOf(ready, query), {
          Accept: accept ?? "",
          "If-None-Match": Object.values(answers).map(tagOf).join(", "), // so that no PDF is typeset
        });
        expect(status).to.equal(304);
        expect(headers.get("etag")).to.equal(tagOf(answers[FORMS.find(([, of]) => of === type)![0]]!));
        expect(headers.get("vary")).to.equal(type === "application/json" ? "Accept, Accept-Encoding" : "Accept");
        expect(headers.get("cache-control")).to.equal("private, no-cache");
      });
    }

    it("refuses an Accept header that matches no format, and lists the formats", async () => {
      const { detail } = expectProblem(
        await client.get(pathOf(await candidate()), { Accept: "text/html, image/*" }),
        406,
        "not_acceptable",
      );
      for (const [, type] of FORMS) expect(detail).to.contain(type);
    });

    it("refuses an unknown format", async () => {
      const { errors } = expectProblem(
        await client.get(pathOf(await candidate(), "?format=docx")),
        400,
        "invalid_query",
      );
      expect(errors[0]).to.deep.equal({ pointer: "/format", detail: "must be one of json, pdf, zip" });
      expectProblem(await client.get(pathOf(await candidate(), "?form=pdf")), 400, "invalid_query");
    });

    it("gives the PDF a file name, and JSON none", () => {
      const { headers, bytes } = answers["pdf"]!;
      expect(headers.get("content-disposition")).to.equal(`attachment; filename="compliance-pack-${ready}.pdf"`);
      expect(headers.get("content-length")).to.equal(String(bytes.length));
      expect(headers.get("x-content-type-options")).to.equal("nosniff");
      expect(answers["json"]!.headers.get("content-disposition")).to.equal(null);
    });
  });

  describe("the ETag", () => {
    it("differs by format", () => {
      const tags = Object.values(answers).map(tagOf);
      expect(new Set(tags)).to.have.length(FORMS.length);
      for (const tag of tags) expect(tag).to.match(/^"[\w-]{27}"$/);
    });

    it("gives 304 while the pack's data is unchanged, and 200 with another tag once it has changed", async () => {
      const id = await candidate({ name: "Ann" });
      for (const form of ["json", "zip"]) {
        const path = pathOf(id, `?format=${form}`);
        const tag = tagOf(await download(client, path));
        await client.patch(`/candidates/${id}/outreach`, {});
        const again = await download(client, path, { "If-None-Match": tag });
        expect([again.status, again.bytes.length, tagOf(again)]).to.deep.equal([304, 0, tag]);
        await client.patch(`/candidates/${id}`, { name: `Ann ${form}` });
        expect((await download(client, path, { "If-None-Match": tag })).status).to.equal(200);
      }
    });

    it("changes with a label, a field of a document and of a reference, as pack_version does", async () => {
      const { body } = await client.post("/candidates", { documents: ["CV"], references: [{ name: "Bob" }] });
      const path = pathOf(body.id, "?format=json");
      const parts = [
        `/candidates/${body.id}`,
        `/candidates/${body.id}/documents/${body.documents[0]?.id}`,
        `/references/${body.references[0]?.id}`,
      ];
      let before = await client.get(path);
      for (const part of parts) {
        await client.patch(part, { metadata: { a: "another" } });
        const after = await client.get(path, { "If-None-Match": before.headers.get("etag") ?? "" });
        expect(after.body.pack_version, part).to.equal(before.body.pack_version + 1);
        before = after;
      }
    });
  });

  for (const [form] of FORMS) {
    it(`answers the same for another account's candidate as for one that never existed, as ${form}`, async () => {
      const stranger = (await service.account()).client;
      const theirs = expectProblem(await stranger.get(pathOf(await candidate(), `?format=${form}`)), 404, "not_found");
      const nobody = await stranger.get(pathOf("cand_00000000000000000000000000", `?format=${form}`));
      const nobodys = expectProblem(nobody, 404, "not_found");
      expect(theirs.detail.replace(/cand_\w+/, "")).to.equal(nobodys.detail.replace(/cand_\w+/, ""));
    });

    it(`charges only the pack surface, once per request, as ${form}, 304 included`, async () => {
      const other = await service.account();
      const given = { documents: [{ name: "a", content: { data: "YQ==" } }] };
      const path = pathOf(await candidate(given, other.client), `?format=${form}`);
      const { headers } = await download(other.client, path);
      expect(await other.used()).to.deep.equal({ create: 1, pack: 1 });
      await download(other.client, path, { "If-None-Match": headers.get("etag") ?? "" });
      expect(await other.used()).to.deep.equal({ create: 1, pack: 2 });
    });
  }
});
