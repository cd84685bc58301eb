import { author } from "../support/records.ts";
import { expect } from "chai";
import { CandidateStore } from "../../src/candidates/store.ts";
import { SharedClock } from "../../src/infra/clock.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { referenceService } from "../../src/references/service.ts";
import { expectClosed, expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";

describe("references", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;
  let candidate: string;
  beforeEach(async () => {
    candidate = `/candidates/${(await client.post("/candidates")).body.id}`;
  });

  const requirements = async () => (await client.get(candidate)).body.reference_requirements;

  it("may bring what another system has sent, and a PATCH may not", async () => {
    const chase = { attempts: 2, last_at: "2026-01-02T03:04:05.000Z" };
    const added = await client.post(`${candidate}/references`, { chase });
    expect(added.body).to.deep.include({ chase: { ...chase, next_at: null, reason: null } });
    const patched = await client.patch(`/references/${added.body.id}`, { chase });
    expect(expectProblem(patched, 422, "validation_failed").errors[0]?.detail).to.contain("read-only");
    const late = { chase: { ...chase, last_at: "2999-01-01T00:00:00Z" } };
    const refused = expectProblem(await client.post(`${candidate}/references`, late), 422, "validation_failed");
    expect(refused.errors[0]?.pointer).to.equal("/chase/last_at");
  });

  it("are requested by the start if added before it, and at once if added after it", async () => {
    const early = await client.post(`${candidate}/references`, {
      name: "Ann",
      email: "ann@example.com",
      metadata: { a: "1" },
    });
    expect(early.status).to.equal(201);
    expect(early.headers.get("location")).to.equal(`/references/${early.body.id}`);
    expect(early.body).to.deep.include({
      object: "reference",
      name: "Ann",
      state: "not_requested",
      metadata: { a: "1" },
      requested_at: null,
    });
    await client.post(`${candidate}/start`);
    const late = await client.post(`${candidate}/references`, {});
    expect(late.body.state).to.equal("requested");
    expect((await client.get(candidate)).body.references.map(({ state }) => state)).to.deep.equal([
      "requested",
      "requested",
    ]);
    expect(await requirements()).to.deep.equal({ required: 2, received: 0, outstanding: 2 });
    expect(await account.used()).to.deep.equal({ create: 1, writes: 2, start: 1, reads: 2 });
  });

  it("move from requested to received, and complete the candidate", async () => {
    await client.post(`${candidate}/start`);
    const { body } = await client.post(`${candidate}/references`, { email: "a@example.com" });
    const received = await client.patch(`/references/${body.id}`, {
      state: "received",
      response: { good: true, list: [1] },
    });
    expect(received.body).to.deep.include({
      state: "received",
      response: { good: true, list: [1] },
      received_at: received.body.updated_at,
    });
    expect((await client.get(candidate)).body).to.include({ state: "completed" });
    expect(await requirements()).to.deep.equal({ required: 1, received: 1, outstanding: 0 });
  });

  it("require action when they bounce, until they are requested again", async () => {
    await client.post(`${candidate}/start`);
    const { body } = await client.post(`${candidate}/references`, { email: "a@example.com" });
    await client.patch(`/references/${body.id}`, { state: "bounced" });
    expect((await client.get(candidate)).body.state).to.equal("action_required");
    await client.patch(`/references/${body.id}`, { state: "requested", email: "b@example.com" });
    expect((await client.get(candidate)).body.state).to.equal("in_progress");
  });

  it("no longer count as required when waived", async () => {
    const { body } = await client.post(`${candidate}/references`);
    await client.patch(`/references/${body.id}`, { state: "waived" });
    expect(await requirements()).to.deep.equal({ required: 0, received: 0, outstanding: 0 });
  });

  const STATES = [
    "not_requested",
    "requested",
    "received",
    "declined",
    "bounced",
    "unresponsive",
    "waived",
    "cancelled",
  ];
  for (const from of STATES) {
    const closed = from === "requested" ? "not_requested" : "requested";
    const open = STATES.filter((state) => state !== closed);

    it(`move from ${from} to any state but ${closed}`, async () => {
      const { body } = await client.post(`${candidate}/references`);
      const path = `/references/${body.id}`;
      if (from === "requested") await client.post(`${candidate}/start`);
      await client.patch(path, { state: from });
      await expectClosed(client, path, { from, to: closed, allowed: open });
      for (const to of open) {
        expect((await client.patch(path, { state: from })).body.state).to.equal(from);
        const moved = (await client.patch(path, { state: to })).body;
        expect(moved.state).to.equal(to);
        expect(moved.received_at === null, `received_at of ${to}`).to.equal(to !== "received");
      }
    });
  }

  it("merge changes to their fields and their response; null clears a value", async () => {
    const { body } = await client.post(`${candidate}/references`, { name: "Ann", company: "Acme" });
    await client.patch(`/references/${body.id}`, { response: { a: 1, b: { c: 2, d: 3 } } });
    const merged = await client.patch(`/references/${body.id}`, { company: null, response: { a: null, b: { c: 4 } } });
    expect(merged.body).to.deep.include({ name: "Ann", company: null, response: { b: { c: 4, d: 3 } } });
    expect((await client.patch(`/references/${body.id}`, { response: null })).body.references).to.equal(undefined);
  });

  it("keep a response exactly, with any member names", async () => {
    const { body } = await client.post(`${candidate}/references`);
    const response = { $set: 1, "a.b": { "": "é😀\u0000" }, list: [null, true, 1.5] };
    await client.patch(`/references/${body.id}`, { response });
    expect((await client.get(candidate)).body.references[0]?.response).to.deep.equal(response);
  });

  it("refuse a response with numbers that would come back changed, each with its pointer, however they are sent", async () => {
    const digits =
      '{"steam":76561197980428154,"a/b":[1,{"c":1e400,"d":-1e999}],"largest":9007199254740991,"third":0.1,"beyond":9007199254740992}';
    const inexact = ["/steam", "/a~1b/1/c", "/a~1b/1/d", "/beyond"];
    const refuse = async (method: string, path: string, body: string, at: string) => {
      const answer = await client.request(method, path, { body, headers: { "Content-Type": "application/json" } });
      const { errors } = expectProblem(answer, 422, "validation_failed");
      expect(errors.map(({ pointer }) => pointer)).to.deep.equal(inexact.map((pointer) => `${at}/response${pointer}`));
      for (const { detail } of errors) expect(detail).to.match(/too many digits .* send it as a string/);
    };
    const { body } = await client.post(`${candidate}/references`, { response: { kept: 1 } });
    await refuse("POST", `${candidate}/references`, `{"response":${digits}}`, "");
    await refuse("PATCH", `/references/${body.id}`, `{"response":${digits}}`, "");
    await refuse("POST", "/candidates", `{"references":[{},{"response":${digits}}]}`, "/references/1");
    expect((await client.get(`/references/${body.id}`)).body).to.deep.include({ response: { kept: 1 } });
    const exact = {
      largest: Number.MAX_SAFE_INTEGER,
      least: -Number.MAX_SAFE_INTEGER,
      e: 1e3,
      tiny: 1e-300,
      third: 0.1,
    };
    const added = await client.post(`${candidate}/references`, { response: exact });
    expect(added.body).to.deep.include({ response: exact });
  });

  it("refuse a response over 16 KiB", async () => {
    const { body } = await client.post(`${candidate}/references`);
    const { errors } = expectProblem(
      await client.patch(`/references/${body.id}`, { response: { a: "x".repeat(17_000) } }),
      422,
      "validation_failed",
    );
    expect(errors[0]).to.include({ pointer: "/response" });
  });

  it("refuse a response with more than 1,000 members and items, those that it has included", async () => {
    const { body } = await client.post(`${candidate}/references`, { response: { list: Array(998).fill(0) } });
    const path = `/references/${body.id}`;
    expect((await client.patch(path, { response: { more: 1 } })).status).to.equal(200);
    const refused = await client.patch(path, { response: { andMore: 1 } });
    const [fault] = expectProblem(refused, 422, "validation_failed").errors;
    expect(fault).to.include({ pointer: "/response" });
    expect(fault?.detail).to.contain("at most 1000 members and items in all").and.contain("it would have 1001");
  });

  it("are limited to 50 for each candidate", async () => {
    const { body } = await client.post("/candidates", { references: Array.from({ length: 50 }, () => ({})) });
    expectProblem(await client.post(`/candidates/${body.id}/references`), 409, "too_many_references");
  });

  it("give another account the same 404 as a reference that never existed", async () => {
    const { body } = await client.post(`${candidate}/references`);
    const stranger = (await service.account()).client;
    const theirs = expectProblem(await stranger.patch(`/references/${body.id}`, { name: "x" }), 404, "not_found");
    const nobodys = expectProblem(
      await stranger.patch("/references/ref_00000000000000000000000000", { name: "x" }),
      404,
      "not_found",
    );
    expect(theirs.detail.replace(/ref_\w+/, "")).to.equal(nobodys.detail.replace(/ref_\w+/, ""));
  });

  it("are refused in a state that contradicts the candidate's, or with an old If-Match", async () => {
    const [early, path] = [{ state: "requested" }, `${candidate}/references`];
    expectProblem(await client.post(path, early), 409, "invalid_transition");
    const old = (await client.get(candidate)).headers.get("etag") ?? "";
    const { body } = await client.post(path, { name: "Ann" });
    expectProblem(await client.post(path, { name: "Bob" }, { "If-Match": old }), 412, "version_mismatch");
    expect((await client.get(candidate)).body.references).to.deep.equal([body]);
  });

  it("keep their version, and their candidate's, if a change gives them the values that they have", async () => {
    const { body } = await client.post(`${candidate}/references`, { name: "Ann" });
    const before = await client.get(candidate);
    expect((await client.patch(`/references/${body.id}`, { name: "Ann" })).body).to.deep.equal(body);
    expect((await client.get(candidate)).body).to.deep.equal(before.body);
  });

  it("are added once if the attempt that added one was interrupted, whatever its If-Match says by then", async () => {
    const references = referenceService(new CandidateStore(service.operators.mongo, new SharedClock()));
    const [id, candidateId] = [newTypeId("ref"), candidate.slice("/candidates/".length)];
    const add = (precondition: () => void) =>
      references.add(author(account.id), candidateId, { name: "Ann" }, id, precondition);
    const first = await add(() => undefined);
    const again = await add(() => expect.fail("the candidate has changed by this very request"));
    expect(again).to.deep.equal(first);
    expect((await client.get(candidate)).body.references).to.have.length(1);
  });

  it("accept an If-Match with the ETag of the reference or of its candidate", async () => {
    const made = await client.post(`${candidate}/references`);
    const path = `/references/${made.body.id}`;
    const candidateTag = (await client.get(candidate)).headers.get("etag") ?? "";
    const changed = await client.patch(path, { name: "a" }, { "If-Match": made.headers.get("etag") ?? "" });
    expect(changed.status).to.equal(200);
    expectProblem(await client.patch(path, { name: "b" }, { "If-Match": candidateTag }), 412, "version_mismatch");
    const fresh = (await client.get(candidate)).headers.get("etag") ?? "";
    expect((await client.patch(path, { name: "c" }, { "If-Match": fresh })).status).to.equal(200);
  });
});
