import { author } from "../support/records.ts";
import { expired } from "../../src/candidates/moves.ts";
import { CandidateStore } from "../../src/candidates/store.ts";
import { expect } from "chai";
import { expectClosed, expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { candidateWithDocument, documentIn, put } from "./support.ts";

describe("PATCH /candidates/{id}/documents/{docId}", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;
  let candidate: string;
  let document: string;
  beforeEach(async () => {
    ({ candidate, document } = await candidateWithDocument(client));
  });

  it("sets and clears fields, and charges writes", async () => {
    const changed = await client.patch(document, {
      name: "Visa",
      required: false,
      expires_on: "2027-01-31",
      metadata: { a: "1", b: "2" },
    });
    expect(changed.body).to.deep.include({
      name: "Visa",
      required: false,
      expires_on: "2027-01-31",
      metadata: { a: "1", b: "2" },
      state: "pending",
    });
    const cleared = await client.patch(document, { required: null, expires_on: null, metadata: { a: null } });
    expect(cleared.body).to.deep.include({ name: "Visa", required: true, expires_on: null, metadata: { b: "2" } });
    expect((await client.get(candidate)).body.documents[0]).to.deep.equal(cleared.body);
    expect(await account.used()).to.deep.equal({ create: 1, writes: 2, reads: 1 });
  });

  it("writes nothing if nothing changes", async () => {
    const before = (await client.get(candidate)).body;
    const same = await client.patch(document, {
      state: "pending",
      name: "Passport",
      required: null,
      rejection_reason: null,
    });
    expect(same.status).to.equal(200);
    expect((await client.get(candidate)).body).to.deep.equal(before);
  });

  const STATES = ["pending", "requested", "received", "rejected", "expired", "accepted", "waived", "cancelled"];

  /** Creates a document and brings it to a state through the API; to `expired` through the store, as the sweep does. */
  async function documentInState(state: string): Promise<string> {
    const made = await candidateWithDocument(client);
    if (state === "requested") await client.post(`${made.candidate}/start`);
    if (["received", "accepted", "rejected", "expired"].includes(state)) await put(client, made.content, "bytes");
    if (["accepted", "rejected", "waived", "cancelled"].includes(state)) await client.patch(made.document, { state });
    if (state === "expired") {
      await client.patch(made.document, { state: "accepted", expires_on: "2999-01-31" });
      const store = new CandidateStore(service.operators.mongo, { now: Date.now });
      await store.change(author(account.id), made.candidate.slice("/candidates/".length), (record, now) =>
        expired(record, "2999-02-01", now),
      );
    }
    return made.document;
  }

  for (const from of STATES) {
    const closed = from === "requested" ? "pending" : "requested";
    const allowed = STATES.filter((state) => state !== closed);

    it(`moves a document from ${from} to any state but ${closed}`, async () => {
      const fixed = await documentInState(from);
      await expectClosed(client, fixed, { from, to: closed, allowed });
      for (const to of allowed)
        expect((await client.patch(await documentInState(from), { state: to })).body).to.include({
          state: to,
          name: "Passport",
        });
    });
  }

  it("keeps rejection_reason while the document is rejected, and refuses it otherwise", async () => {
    const rejected = await documentInState("received");
    expect((await client.patch(rejected, { state: "rejected", rejection_reason: "blurred" })).body).to.include({
      rejection_reason: "blurred",
    });
    expect((await client.patch(rejected, { rejection_reason: "too blurred" })).body).to.include({
      state: "rejected",
      rejection_reason: "too blurred",
    });
    expect((await client.patch(rejected, { state: "pending" })).body).to.include({
      state: "pending",
      rejection_reason: null,
    });
    const { errors } = expectProblem(
      await client.patch(rejected, { rejection_reason: "why" }),
      422,
      "validation_failed",
    );
    expect(errors[0]?.pointer).to.equal("/rejection_reason");
  });

  it("makes an expired document received once it gets new content", async () => {
    const expiredOne = await documentInState("expired");
    expect((await put(client, `${expiredOne}/content`, "newer")).body).to.include({ state: "received" });
  });

  it("refuses to accept a document whose expires_on is past, unless the same request sets a later day", async () => {
    const received = await documentInState("received");
    await client.patch(received, { expires_on: "2020-01-31" });
    const refused = expectProblem(await client.patch(received, { state: "accepted" }), 409, "invalid_transition");
    expect(refused).to.include({ from: "received", to: "accepted" });
    expect(refused.allowed).to.have.members(["pending", "received", "rejected", "expired", "waived", "cancelled"]);
    expect((await client.patch(received, { state: "accepted", expires_on: "2999-01-31" })).body).to.include({
      state: "accepted",
    });
  });

  it("refuses an expires_on that is past for an accepted document, and keeps the one that is there", async () => {
    const accepted = await documentInState("accepted");
    await client.patch(accepted, { expires_on: "2999-01-31" });
    expectProblem(await client.patch(accepted, { expires_on: "2020-01-31" }), 409, "invalid_transition");
    expect((await client.get(accepted)).body).to.include({ state: "accepted", expires_on: "2999-01-31" });
  });

  it("honours If-Match with the ETag of the document or of its candidate", async () => {
    const first = await client.patch(document, { name: "Visa" });
    const whole = (await client.get(candidate)).headers.get("etag") ?? "";
    const second = await client.patch(document, { name: "Permit" }, { "If-Match": first.headers.get("etag") ?? "" });
    expect(second.status).to.equal(200);
    expectProblem(await client.patch(document, { name: "CV" }, { "If-Match": whole }), 412, "version_mismatch");
    const now = (await client.get(candidate)).headers.get("etag") ?? "";
    expect((await client.patch(document, { name: "CV" }, { "If-Match": now })).status).to.equal(200);
  });

  it("can be edited while the candidate is withdrawn", async () => {
    await client.patch(candidate, { withdrawn: true });
    expect((await client.patch(document, { name: "Visa", state: "waived" })).body).to.include({
      name: "Visa",
      state: "waived",
    });
    expect((await client.get(candidate)).body.state).to.equal("withdrawn");
  });

  it("returns 404 to another account's key, under another candidate, and for an unknown document", async () => {
    const other = await service.account();
    const elsewhere = await candidateWithDocument(client);
    expectProblem(await other.client.patch(document, { name: "Visa" }), 404, "not_found");
    expectProblem(
      await client.patch(`${elsewhere.candidate}${document.slice(candidate.length)}`, { name: "Visa" }),
      404,
      "not_found",
    );
    expectProblem(await client.patch(`${candidate}/documents/doc_none`, { name: "Visa" }), 404, "not_found");
    expect((await client.get(candidate)).body.documents[0]?.name).to.equal("Passport");
  });

  const REFUSED: [string, unknown, string][] = [
    ["content", { content: null }, "/content"],
    ["a name of null", { name: null }, "/name"],
    ["a state of null", { state: null }, "/state"],
    ["a day that does not exist", { expires_on: "2026-02-30" }, "/expires_on"],
    ["an unknown field", { expiry: "2026-02-28" }, "/expiry"],
  ];
  for (const [what, json, pointer] of REFUSED) {
    it(`refuses ${what}`, async () => {
      const { errors } = expectProblem(await client.patch(document, json), 422, "validation_failed");
      expect(errors[0]?.pointer).to.equal(pointer);
    });
  }

  it("keeps the content when other fields change", async () => {
    const received = await documentInState("received");
    const { content } = documentIn(await client.patch(received, { state: "rejected" }));
    expect(content).to.include({ size: 5 });
  });
});
