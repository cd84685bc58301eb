import { expect } from "chai";
import { unpack } from "../../src/idempotency/outcome.ts";
import type { IdempotencyRecord } from "../../src/idempotency/store.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";

describe("POST /candidates?on_conflict=", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;
  const update = (json: object) => client.post("/candidates?on_conflict=update", json);
  const outcome = ({ headers }: { headers: Headers }) => headers.get("onboarding-outcome");
  const feed = async () => (await client.get("/candidates?limit=200")).body.data;

  it("update creates a candidate whose external_id is new", async () => {
    const answer = await update({ external_id: "ats-1", name: "Ada" });
    expect(answer.status).to.equal(201);
    expect(outcome(answer)).to.equal("created");
    expect(answer.headers.get("location")).to.equal(`/candidates/${answer.body.id}`);
    expect(await account.used()).to.deep.equal({ create: 1 });
  });

  it("update changes what is sent, adds new documents and references, and leaves the rest", async () => {
    const { body: before } = await client.post("/candidates", {
      external_id: "ats-1",
      name: "Ada",
      job_title: "Nurse",
      metadata: { source: "fair", round: "2" },
      documents: [{ name: "Passport", state: "accepted" }],
      references: [{ name: "Jo", email: "jo@example.com", state: "received" }, { name: "Kim" }],
    });
    const answer = await update({
      external_id: "ats-1",
      name: "Ada Okafor",
      metadata: { round: null, site: "Berlin" },
      docs_chase_attempts: 7,
      withdrawn: true,
      withdrawal_reason: "Took another offer",
      documents: ["Passport", "Visa", { name: "Visa", required: false }],
      references: [
        { name: "Joanna", email: "JO@example.com" },
        { name: "Kim", phone: "+14155550123" },
        { name: "Lee", email: "lee@example.com", chase: { attempts: 2 } },
      ],
    });
    expect(answer.status).to.equal(200);
    expect(outcome(answer)).to.equal("updated");
    expect(answer.headers.get("location")).to.equal(null);
    const { body } = answer;
    expect(body).to.deep.include({
      id: before.id,
      version: 2,
      name: "Ada Okafor",
      job_title: "Nurse",
      metadata: { source: "fair", site: "Berlin" },
      docs_chase_attempts: 7,
      reference_chase_attempts: 3,
      state: "withdrawn",
      withdrawal_reason: "Took another offer",
    });
    expect(body.documents.map(({ name, state, required }) => [name, state, required])).to.deep.equal([
      ["Passport", "accepted", true],
      ["Visa", "pending", true],
      ["Visa", "pending", false],
    ]);
    expect(body.documents[0]).to.deep.equal(before.documents[0]);
    expect(body.references.slice(0, 2)).to.deep.equal(before.references);
    expect(body.references.slice(2).map(({ name, chase }) => [name, chase.attempts])).to.deep.equal([["Lee", 2]]);
    expect((await client.get(`/candidates/${body.id}`)).body).to.deep.equal(body);
    expect(answer.headers.get("etag")).to.equal((await client.get(`/candidates/${body.id}`)).headers.get("etag"));
  });

  it("update turns reminders off, and leaves them off where the field is left out", async () => {
    await client.post("/candidates", { external_id: "ats-1" });
    expect((await update({ external_id: "ats-1", outreach_enabled: false })).body.outreach_enabled).to.equal(false);
    const again = await update({ external_id: "ats-1" });
    expect(again.body.outreach_enabled).to.equal(false);
    expect(outcome(again)).to.equal("unchanged");
  });

  it("update that changes nothing writes nothing: the same version, ETag and feed row", async () => {
    const given = {
      external_id: "ats-1",
      name: " Ada ",
      phone: "+1 (415) 555-0123",
      start_date: "2027-01-10T00:00:00Z",
      metadata: { round: 2 },
      outreach_enabled: false,
      withdrawn: false,
      documents: ["Passport", { name: "Visa", state: "accepted", chase: { attempts: 1 } }],
      references: [{ name: "Jo", email: "jo@example.com" }, { name: "Kim" }, { phone: "+14155550123" }],
    };
    const first = await update(given);
    const rows = await feed();
    const again = await update({ ...given, metadata: { round: "2" } });
    expect(again.status).to.equal(200);
    expect(outcome(again)).to.equal("unchanged");
    expect(again.body).to.deep.equal(first.body);
    expect(again.headers.get("etag")).to.equal(first.headers.get("etag"));
    expect(await feed()).to.deep.equal(rows);
    expect(await account.used()).to.include({ create: 2 });
  });

  it("update keeps the bytes of a new document, and does not store those of a known one", async () => {
    const content = (text: string) => ({ data: Buffer.from(text).toString("base64") });
    await update({ external_id: "ats-1", documents: [{ name: "Passport", content: content("one") }] });
    const { body } = await update({
      external_id: "ats-1",
      documents: [
        { name: "Passport", content: content("two") },
        { name: "Visa", content: content("three") },
      ],
    });
    const texts = body.documents.map(({ id }) => client.get(`/candidates/${body.id}/documents/${id}/content`));
    expect((await Promise.all(texts)).map((each) => each.body.text)).to.deep.equal(["one", "three"]);
    expect(body.documents.map(({ state }) => state)).to.deep.equal(["received", "received"]);
  });

  it("skip answers with what is there", async () => {
    const { body } = await client.post("/candidates", { external_id: "ats-1", name: "Ada" });
    const answer = await client.post("/candidates?on_conflict=skip", { external_id: "ats-1", name: "Grace" });
    expect(answer.status).to.equal(200);
    expect(outcome(answer)).to.equal("unchanged");
    expect(answer.body).to.deep.equal(body);
  });

  it("refuses a candidate without an external_id, and any other word", async () => {
    const refused = expectProblem(await update({ name: "Ada" }), 422, "validation_failed");
    expect(refused.errors[0]!.pointer).to.equal("/external_id");
    expectProblem(await client.post("/candidates?on_conflict=replace", {}), 400, "invalid_query");
  });

  it("refuses what PATCH would refuse, and then changes nothing", async () => {
    const { body } = await update({ external_id: "ats-1", name: "Ada" });
    await client.post(`/candidates/${body.id}/start`);
    const contradicting = { external_id: "ats-1", name: "Grace", documents: [{ name: "Visa", state: "pending" }] };
    const refused = expectProblem(await update(contradicting), 409, "invalid_transition");
    expect(refused.errors[0]!.pointer).to.equal("/documents/0/state");
    expect((await client.get(`/candidates/${body.id}`)).body.name).to.equal("Ada");
  });

  it("creates one of many that come at once, and changes it with the others", async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => update({ external_id: "ats-1", documents: [`Document ${n}`] })),
    );
    expect(answers.filter(({ status }) => status === 201)).to.have.lengthOf(1);
    expect(answers.filter(({ status }) => status === 200)).to.have.lengthOf(11);
    const rows = await feed();
    expect(rows).to.have.lengthOf(1);
    expect(rows[0]!.documents).to.have.lengthOf(12);
  });

  it("with an Idempotency-Key replays the outcome, and undoes no later change", async () => {
    const request = { headers: { "Idempotency-Key": "row 1" } };
    await client.post("/candidates", { external_id: "ats-1", name: "Ada" });
    const send = () =>
      client.post("/candidates?on_conflict=update", { external_id: "ats-1", name: "Grace" }, request.headers);
    const first = await send();
    await client.patch(`/candidates/${first.body.id}`, { name: "Edsger" });
    const again = await send();
    expect(again.headers.get("idempotent-replayed")).to.equal("true");
    expect(outcome(again)).to.equal("updated");
    expect(again.body).to.deep.equal(first.body);
    expect((await client.get(`/candidates/${first.body.id}`)).body.name).to.equal("Edsger");
  });

  it("shows nobody in a replay who was erased since", async () => {
    for (const word of ["update", "skip"]) {
      const { body } = await client.post("/candidates", { external_id: word, name: "Ada" });
      const send = () =>
        client.post(
          `/candidates?on_conflict=${word}`,
          { external_id: word, references: [{ email: "jo@example.com" }] },
          { "Idempotency-Key": word },
        );
      expect((await send()).status).to.equal(200);
      expect((await client.request("DELETE", `/candidates/${body.id}`)).status).to.equal(204);
      expectProblem(await send(), 410, "candidate_deleted");
      const kept = service.operators.mongo.db.collection<IdempotencyRecord>("idempotency_records");
      for (const { outcome } of await kept.find({ account: account.id }).toArray())
        expect(JSON.stringify(outcome && (await unpack(outcome.value())))).to.not.include("Ada");
    }
  });

  it("says in a dry run what would become of it", async () => {
    const dry = (json: object) => client.post("/candidates?dry_run=true&on_conflict=update", json);
    expect((await dry({ external_id: "ats-1" })).body).to.include({ object: "dry_run", outcome: "created" });
    const { body } = await update({ external_id: "ats-1", name: "Ada" });
    expect((await dry({ external_id: "ats-1", name: "Ada" })).body.outcome).to.equal("unchanged");
    const would = (await dry({ external_id: "ats-1", name: "Grace", documents: ["Visa"] })).body;
    expect(would.outcome).to.equal("updated");
    expect(would.would_create).to.include({ id: body.id, name: "Grace", version: 2 });
    expect((await client.get(`/candidates/${body.id}`)).body).to.deep.equal(body);
  });
});
