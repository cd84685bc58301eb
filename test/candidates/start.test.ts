import { expect } from "chai";
import { expectProblem } from "../support/client.ts";
import { useAccount } from "../support/use-service.ts";

describe("POST /candidates/{id}/start", () => {
  const account = useAccount();
  const { client } = account;

  it("treats an empty chunked body as no body", async () => {
    const { body } = await client.post("/candidates");
    const chunked = new Blob([]).stream();
    const started = await client.request("POST", `/candidates/${body.id}/start`, {
      body: chunked,
      headers: { "Content-Type": "application/json" },
    });
    expect(started.status).to.equal(200);
  });

  it("requests the pending documents and references, and charges only start", async () => {
    const { body } = await client.post("/candidates", {
      documents: ["CV", { name: "ID", content: { data: "AAAA" } }],
      references: [{ email: "a@example.com" }],
    });
    const started = await client.request("POST", `/candidates/${body.id}/start`);
    expect(started.status).to.equal(200);
    expect(started.body).to.include({ state: "in_progress", version: 2, started_at: started.body.updated_at });
    expect(started.body.documents.map(({ state }) => state)).to.deep.equal(["requested", "received"]);
    expect(started.body.references[0]).to.include({ state: "requested", requested_at: started.body.started_at });
    expect(started.body.waiting_on.map(({ code }) => code)).to.deep.equal([
      "document_requested",
      "document_received",
      "reference_requested",
    ]);
    expect(await account.used()).to.deep.equal({ create: 1, start: 1 });
  });

  it("changes nothing of a candidate that is completed, or whose document has expired or was rejected", async () => {
    for (const moves of [["accepted"], ["accepted", "expired"], ["rejected"]]) {
      const { body } = await client.post("/candidates", { documents: ["CV", { name: "Visa", required: false }] });
      const path = `/candidates/${body.id}`;
      await client.post(`${path}/start`);
      const document = `${path}/documents/${body.documents[0]?.id}`;
      for (const state of moves) expect((await client.patch(document, { state })).status).to.equal(200);
      const before = await client.get(path);
      expect(before.body.state).to.equal(
        moves.length === 1 && moves[0] === "accepted" ? "completed" : "action_required",
      );
      const again = await client.post(`${path}/start`, {}, { "If-Match": '"the tag of an earlier version"' });
      expect(again.status).to.equal(200);
      expect(again.body).to.deep.equal(before.body);
    }
  });

  it("is refused for a withdrawn candidate, started before or not, and requests nothing of it", async () => {
    for (const isStarted of [false, true]) {
      const { body } = await client.post("/candidates", { documents: ["CV"], references: [{}] });
      const path = `/candidates/${body.id}`;
      if (isStarted) await client.post(`${path}/start`);
      const withdrawn = await client.patch(path, { withdrawn: true });
      expectProblem(await client.post(`${path}/start`), 409, "candidate_withdrawn");
      const stale = await client.post(`${path}/start`, {}, { "If-Match": '"the tag of an earlier version"' });
      expectProblem(stale, 412, "version_mismatch");
      expect((await client.get(path)).body).to.deep.equal(withdrawn.body);
      const back = await client.patch(path, { withdrawn: false });
      expect(back.body.state).to.equal(isStarted ? "in_progress" : "created");
      expect((await client.post(`${path}/start`)).body.state).to.equal("in_progress");
    }
  });

  it("returns 410 if the candidate is erased", async () => {
    const { body } = await client.post("/candidates", { documents: ["CV"] });
    await client.request("DELETE", `/candidates/${body.id}`);
    expectProblem(await client.post(`/candidates/${body.id}/start`), 410, "candidate_deleted");
  });

  it("is refused with an old If-Match while the candidate is not started", async () => {
    const { body, headers } = await client.post("/candidates");
    const path = `/candidates/${body.id}`;
    const changed = await client.patch(path, { name: "Ann" });
    const old = { "If-Match": headers.get("etag") ?? "" };
    expectProblem(await client.post(`${path}/start`, {}, old), 412, "version_mismatch");
    const fresh = { "If-Match": changed.headers.get("etag") ?? "" };
    expect((await client.post(`${path}/start`, {}, fresh)).body.state).to.equal("in_progress");
  });

  it("refuses any field", async () => {
    const { body } = await client.post("/candidates");
    expectProblem(await client.post(`/candidates/${body.id}/start`, { now: true }), 422, "validation_failed");
    expect((await client.get(`/candidates/${body.id}`)).body.state).to.equal("created");
  });

  it("returns 404 if there is no such candidate", async () => {
    expectProblem(await client.post("/candidates/cand_00000000000000000000000000/start"), 404, "not_found");
  });
});
