import { expect } from "chai";
import { useImports } from "../admin/imports.ts";
import { admin } from "../admin/support.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount, useOwnService } from "../support/use-service.ts";
import { mailSettings, useMailServer } from "./mail-server.ts";

describe("POST /candidates/{id}/outreach/remind", function () {
  this.timeout(60_000);
  const mail = useMailServer();
  const service = useOwnService(() => mailSettings(mail));
  const account = useAccount(service);
  const { client } = account;
  const imports = useImports(service);

  beforeEach(() => {
    mail.taken.length = 0;
  });

  const addresses = () => mail.taken.map(({ to }) => [to].flat()[0]?.value[0]?.address ?? "").toSorted();

  async function person(given: object = {}) {
    const references = [{ name: "Charles Babbage", email: "charles@example.com" }];
    const body = { name: "Ada", email: "ada@example.com", documents: ["Passport"], references, ...given };
    return `/candidates/${(await client.post("/candidates", body)).body.id}`;
  }
  async function started(given: object = {}) {
    const path = await person(given);
    await client.post(`${path}/start`);
    return path;
  }

  it("writes to everybody who is still to answer, counts it, and does so once an hour", async () => {
    const path = await started();
    await mail.received(2);
    const { status, body } = await client.post(`${path}/outreach/remind`);
    expect(status).to.equal(200);
    expect(body.outreach.next_at, "now").to.equal(body.documents[0]?.chase.next_at);
    await mail.received(4);
    expect(addresses()).to.deep.equal(["ada@example.com", "charles@example.com"].flatMap((each) => [each, each]));
    const after = (await client.get(path)).body;
    const chases = [...after.documents, ...after.references].map(({ chase }) => chase.attempts);
    expect(chases).to.deep.equal([2, 2]);
    const again = await client.post(`${path}/outreach/remind`, {});
    const { retry_after } = expectProblem(again, 409, "reminded_recently");
    expect(retry_after).to.be.within(3_500, 3_600);
    expect(again.headers.get("retry-after")).to.equal(String(retry_after));
  });

  it("is planned as before by an import from a shell that knows no mail server", async () => {
    const path = await started({ external_id: "imported" });
    await mail.received(2);
    const file = await imports.fileOf("more.csv", "external_id,documents\nimported,CV\n");
    const command = ["candidates", "import", file, "--account", account.id, "--on-conflict", "update"];
    expect(JSON.parse((await admin(command, imports.env())).stdout)).to.include({ updated: 1 });
    const { documents, outreach } = (await client.get(path)).body;
    expect(documents.map(({ chase }) => chase.reason)).to.deep.equal([null, null]);
    expect(outreach.next_at).to.equal(documents[1]?.chase.next_at).and.to.be.a("string");
  });

  for (const [reason, given, change] of [
    ["cap_reached", { docs_chase_attempts: 0, reference_chase_attempts: 0 }, undefined],
    ["disabled", { outreach_enabled: false }, undefined],
    ["no_email", { email: null, references: [] }, undefined],
    ["withdrawn", {}, { withdrawn: true }],
    ["nothing_outstanding", { documents: [{ name: "CV", state: "accepted" }], references: [] }, undefined],
  ] as const) {
    it(`has nothing to send, and uses up no hour: ${reason}`, async () => {
      const path = await started({
        outreach_enabled: false,
        ...given,
        ...(reason !== "disabled" && { outreach_enabled: true }),
      });
      if (change) await client.patch(path, change);
      for (let n = 0; n < 2; n++)
        expect(expectProblem(await client.post(`${path}/outreach/remind`), 409, "nothing_to_send").reason).to.equal(
          reason,
        );
    });
  }

  it("refuses what is wrong: a member, an old ETag, a candidate that is not started, or another account's", async () => {
    const path = await person();
    const remind = `${path}/outreach/remind`;
    expectProblem(await client.post(remind, { to: "candidate" }), 422, "validation_failed");
    expectProblem(await client.post(remind, {}, { "If-Match": '"old"' }), 412, "version_mismatch");
    expect(expectProblem(await client.post(remind), 409, "nothing_to_send").reason).to.equal("not_started");
    expectProblem(await (await service.account()).client.post(remind), 404, "not_found");
    expect(await account.used()).to.deep.equal({ create: 1, writes: 3 });
  });

  it("shows in waiting_on and chase whom it cannot reach", async () => {
    const references = [{ name: "Charles Babbage" }, { name: "Mary", email: "mary@example.com" }];
    const path = await started({ references });
    const { body } = await client.get(path);
    expect(body.waiting_on.map(({ message }) => message)).to.include("Charles Babbage has no email address");
    const [charles, mary] = body.references.map(({ chase }) => chase);
    expect(charles).to.deep.include({ next_at: null, reason: "no_email" });
    expect(mary?.reason).to.equal(null);
  });
});

const ONE_OF = "must be a language that messages have: en, de, fr, es, nl, with or without a region (de-CH)";

describe("The language of a candidate and of a reference", () => {
  const account = useAccount();
  const { client } = account;

  it("is one that messages have, with or without a region, in any case of letters", async () => {
    for (const language of ["de", "de-CH", "NL", "es-419", null]) {
      const { body, status } = await client.post("/candidates", { language, references: [{ language }] });
      expect(status).to.equal(201);
      expect([body.language, body.references[0]?.language]).to.deep.equal([language, language]);
    }
  });

  it("is refused if messages do not have it, and the problem names those that they have", async () => {
    for (const language of ["pt-BR", "deu", "de_CH", "de-", "x", "german"]) {
      const refused = await client.post("/candidates", { language });
      const { errors } = expectProblem(refused, 422, "validation_failed");
      expect(errors[0]?.pointer, language).to.equal("/language");
      expect(
        errors.map(({ detail }) => detail),
        language,
      ).to.deep.equal([ONE_OF]);
    }
  });

  it("is changed by PATCH, and the settings say which one any other language becomes", async () => {
    const { body } = await client.post("/candidates", { references: [{ name: "Ann" }] });
    expect((await client.patch(`/candidates/${body.id}`, { language: "fr" })).body.language).to.equal("fr");
    const reference = `/references/${body.references[0]?.id}`;
    expect((await client.patch(reference, { language: "nl" })).body.language).to.equal("nl");
    expect((await client.patch(reference, { language: null })).body.language).to.equal(null);
    const settings = await client.patch("/settings/assistant", { language: "pt-BR" });
    expect(settings.body).to.include({ language: "pt-BR", message_language: "en" });
  });
});
