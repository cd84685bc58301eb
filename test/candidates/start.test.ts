import { expect } from "chai";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";

describe("POST /candidates/{id}/start", () => {
  const service = useService();
  const account = useAccount(service);
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

  it("changes nothing the second time", async () => {
    const { body } = await client.post("/candidates", { documents: ["CV"] });
    const first = await client.post(`/candidates/${body.id}/start`, {});
    const again = await client.post(`/candidates/${body.id}/start`, {});
    expect(again.status).to.equal(200);
    expect(again.body).to.deep.equal(first.body);
  });

  it("refuses any field", async () => {
    const { body } = await client.post("/candidates");
    expectProblem(await client.post(`/candidates/${body.id}/start`, { now: true }), 422, "validation_failed");
    expect((await client.get(`/candidates/${body.id}`)).body.state).to.equal("created");
  });

  it("answers 404 if there is no such candidate", async () => {
    expectProblem(await client.post("/candidates/cand_00000000000000000000000000/start"), 404, "not_found");
  });
});
