import { author } from "../support/records.ts";
import { expect } from "chai";
import type { Draft } from "../../src/candidates/record.ts";
import { CandidateStore } from "../../src/candidates/store.ts";
import { SharedClock } from "../../src/infra/clock.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { held } from "../documents/support.ts";
import { expectProblem } from "../support/client.ts";
import { candidateWithExpiry } from "../sweeps/support.ts";
import { useAccount, useService } from "../support/use-service.ts";

describe("POST /candidates", () => {
  const service = useService();
  const { client } = useAccount(service);

  const FULL = {
    external_id: "ats-1",
    name: "Zoë 山田 \u0000 😀",
    first_name: "Zoë",
    last_name: "山田",
    email: "zoe@example.com",
    phone: "+14155550123",
    job_title: "Nurse",
    start_date: "2026-12-01",
    metadata: { "a.b": "dots", $set: "dollars", "": "" },
    docs_chase_attempts: 0,
    reference_chase_attempts: 100,
    references_required: 2,
  };

  it("accepts an empty object and fills in the defaults", async () => {
    const { status, headers, body } = await client.post("/candidates");
    expect(status).to.equal(201);
    expect(headers.get("location")).to.equal(`/candidates/${body.id}`);
    expect(body).to.include({
      object: "candidate",
      state: "created",
      version: 1,
      docs_chase_attempts: 3,
      reference_chase_attempts: 3,
    });
    expect(body.id).to.match(/^cand_[0-9a-z]{26}$/);
    expect(body.reference_requirements).to.deep.equal({ required: 0, received: 0, outstanding: 0 });
    expect(body.created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it("stores every field exactly as it was sent", async () => {
    const { "": _, ...metadata } = FULL.metadata;
    const { body } = await client.post("/candidates", { ...FULL, metadata });
    expect(body).to.deep.include({ ...FULL, metadata });
    const read = await client.get(`/candidates/${body.id}`);
    expect(read.body).to.deep.equal(body);
  });

  it("accepts documents as names and as objects, with repeated names and with content", async () => {
    const data = Buffer.from("bytes").toString("base64");
    const { body } = await client.post("/candidates", {
      documents: [
        "Passport",
        "Passport",
        {
          name: "CV",
          required: false,
          expires_on: "2027-01-31",
          content: { filename: "cv.txt", content_type: "text/plain", data },
        },
      ],
    });
    expect(body.documents).to.have.length(3);
    const [first, second, cv] = body.documents;
    expect(first).to.include({
      object: "document",
      name: "Passport",
      state: "pending",
      required: true,
      content: null,
      candidate_id: body.id,
    });
    expect(second?.id).not.to.equal(first?.id);
    expect(cv).to.include({ state: "received", required: false, expires_on: "2027-01-31" });
    expect(cv?.content).to.include({
      filename: "cv.txt",
      content_type: "text/plain",
      size: 5,
      sha256: "277089d91c0bdf4f2e6862ba7e4a07605119431f5d13f726dd352b06f1b206a9",
    });
  });

  it("accepts references, and requires all of them by default", async () => {
    const { body } = await client.post("/candidates", { references: [{ name: "Ann", email: "ann@example.com" }, {}] });
    expect(body.references).to.have.length(2);
    expect(body.reference_requirements).to.deep.equal({ required: 2, received: 0, outstanding: 2 });
    expect(body.waiting_on.map(({ code }) => code)).to.deep.equal(["not_started", "reference_without_email"]);
  });

  it("accepts a candidate that is withdrawn already, as one that was withdrawn later", async () => {
    const given = { name: "Ada", withdrawn: true, withdrawal_reason: "Took another offer" };
    const { body } = await client.post("/candidates", { ...given, documents: ["CV"] });
    expect(body).to.include({ ...given, state: "withdrawn", state_reason: given.withdrawal_reason });
    expect(body.waiting_on).to.deep.equal([]);
    expect(body.outreach).to.deep.equal({ next_at: null, reason: "withdrawn" });
    expect((await client.get(`/candidates/${body.id}`)).body).to.deep.equal(body);
    const dry = await client.post("/candidates?dry_run=true", given);
    expect(dry.body).to.have.nested.property("would_create.state_reason", given.withdrawal_reason);
    expectProblem(await client.post(`/candidates/${body.id}/start`), 409, "candidate_withdrawn");
    const back = (await client.patch(`/candidates/${body.id}`, { withdrawn: false })).body;
    expect(back).to.include({ state: "created", withdrawal_reason: null });
    const none = { withdrawn: null, withdrawal_reason: null };
    expect((await client.post("/candidates", none)).body).to.include({ ...none, withdrawn: false, state: "created" });
    for (const each of [{ withdrawal_reason: "Moved" }, { withdrawn: false, withdrawal_reason: "Moved" }]) {
      const { errors } = expectProblem(await client.post("/candidates", each), 422, "validation_failed");
      expect(errors).to.deep.equal([{ pointer: "/withdrawal_reason", detail: 'must be sent with "withdrawn": true' }]);
    }
  });

  it("refuses a taken external_id, and names the candidate that has it", async () => {
    const first = await client.post("/candidates", { external_id: "taken" });
    const second = await client.post("/candidates", { external_id: "taken", documents: ["CV"] });
    const body = expectProblem(second, 409, "external_id_taken");
    expect(body.candidate_id).to.equal(first.body.id);
    expect(body.detail).to.contain(first.body.id);
  });

  it("leaves nothing behind if the external_id is taken", async () => {
    const lookUps = () => service.operators.mongo.db.collection("reference_index").find().toArray();
    await client.post("/candidates", { external_id: "taken", references: [{}] });
    const before = await lookUps();
    expect(before).not.to.deep.equal([]);
    const refused = await client.post("/candidates", { external_id: "taken", references: [{}, {}] });
    expectProblem(refused, 409, "external_id_taken");
    expect(await lookUps()).to.deep.equal(before);
  });

  it("keeps no file of a create that is refused for its references", async () => {
    const before = await held(service);
    const documents = [{ name: "CV", content: { data: "QQ==" } }];
    expectProblem(
      await client.post("/candidates", { documents, references: [{ state: "requested" }] }),
      409,
      "invalid_transition",
    );
    expect(await held(service)).to.deep.equal(before);
  });

  it("takes an external_id that its holder lets go while another candidate is written", async () => {
    const { mongo } = service.operators;
    const store = new CandidateStore(mongo, new SharedClock());
    const draft = (id: string): Draft => ({ ...candidateWithExpiry("acct_1", "2090-01-31"), id, external_id: "taken" });
    const [holder, id] = [newTypeId("cand"), newTypeId("cand")];
    await store.insert(draft(holder), author());
    const holderOf = store.externalIds.holderOf.bind(store.externalIds);
    store.externalIds.holderOf = async (accountId, external_id) => {
      await store.change(author(accountId), holder, (record) => ({ ...record, external_id: null }));
      return holderOf(accountId, external_id);
    };
    expect((await store.insert(draft(id), author())).id).to.equal(id);

    await store.change(author("acct_1"), id, (record) => ({ ...record, external_id: null }));
    await store.change(author("acct_1"), holder, (record) => ({ ...record, external_id: "taken" }));
    const changed = await store.change(author("acct_1"), id, (record) => ({ ...record, external_id: "taken" }));
    expect(changed.external_id).to.equal("taken");
  });

  it("lets two accounts use one external_id", async () => {
    const other = await service.account();
    expect((await client.post("/candidates", { external_id: "same" })).status).to.equal(201);
    expect((await other.client.post("/candidates", { external_id: "same" })).status).to.equal(201);
  });

  it("names the account's own holder of an external_id that another account uses too", async () => {
    const clients = [client, (await service.account()).client];
    const holders: string[] = [];
    for (const each of clients) holders.push((await each.post("/candidates", { external_id: "shared" })).body.id);
    for (const [n, each] of clients.entries()) {
      const refused = await each.post("/candidates", { external_id: "shared" });
      expect(expectProblem(refused, 409, "external_id_taken").candidate_id).to.equal(holders[n]);
    }
  });

  // test/responses/candidate-steps.ts and problem-steps.ts have the others.
  const REFUSED: [string, unknown, string, RegExp][] = [
    ["51 references", { references: Array.from({ length: 51 }, () => ({})) }, "/references", /at most 50/],
    ["a document with an empty name", { documents: [""] }, "/documents/0", /at least 1/],
    ["a document of a wrong type", { documents: [7] }, "/documents/0", /an object/],
    [
      "an unknown field of a document",
      { documents: [{ name: "a", expires: "2026-01-01" }] },
      "/documents/0/expires",
      /expires_on/,
    ],
    [
      "content that is not base64",
      { documents: [{ name: "a", content: { data: "a b" } }] },
      "/documents/0/content/data",
      /base64/,
    ],
    ["metadata that is a list", { metadata: { a: [1] } }, "/metadata/a", /a string/],
    ["an external_id that contains NUL", { external_id: "7\u0000" }, "/external_id", /visible characters/],
  ];
  for (const [what, json, pointer, detail] of REFUSED) {
    it(`refuses ${what}`, async () => {
      const { errors } = expectProblem(await client.post("/candidates", json), 422, "validation_failed");
      expect(errors[0]?.pointer).to.equal(pointer);
      expect(errors[0]?.detail).to.match(detail);
      expect((await client.get("/candidates")).body.data).to.have.length(0);
    });
  }
});
