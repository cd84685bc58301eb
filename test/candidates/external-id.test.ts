import { expect } from "chai";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";

describe("external:ID in the place of a candidate's id", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;

  it("works in every path below /candidates", async () => {
    const { body: created } = await client.post("/candidates", { external_id: "a/b ü%?#", email: "ada@example.com" });
    const at = `/candidates/${encodeURIComponent("external:a/b ü%?#")}`;
    const read = await client.get(at);
    expect(read.body).to.deep.equal(created);
    expect((await client.patch(at, { name: "Ada" })).body.name).to.equal("Ada");
    expect((await client.patch(`${at}/outreach`, { docs_chase_attempts: 1 })).body.docs_chase_attempts).to.equal(1);
    const document = await client.post(`${at}/documents`, { name: "CV" });
    expect(document.headers.get("location")).to.equal(`/candidates/${created.id}/documents/${document.body.id}`);
    const content = `${at}/documents/${document.body.id}/content`;
    expect((await client.request("PUT", content, { body: "bytes" })).status).to.equal(200);
    expect((await client.get(content)).body.text).to.equal("bytes");
    expect((await client.post(`${at}/references`, { name: "Jo" })).status).to.equal(201);
    expect((await client.post(`${at}/start`)).body.state).to.equal("in_progress");
    expect((await client.get(`${at}/pack?format=json`)).body.candidate_id).to.equal(created.id);
    expect(await account.used()).to.deep.equal({ create: 1, reads: 2, writes: 5, start: 1, pack: 1 });
    expect((await client.request("DELETE", at)).status).to.equal(204);
    expectProblem(await client.get(at), 404, "not_found");
    expectProblem(await client.get(`/candidates/${created.id}`), 410, "candidate_deleted");
  });

  it("finds what a body with the same text creates, and is 404 where there is none", async () => {
    const { body } = await client.post("/candidates", { external_id: " ats\u200b-1 " });
    for (const text of ["external:ats-1", "external:%20ats-1", "external%3Aats-1"])
      expect((await client.get(`/candidates/${text}`)).body.id, text).to.equal(body.id);
    for (const text of ["external:", "external:ats-2", "external:external:ats-1", `external:${"x".repeat(300)}`])
      expectProblem(await client.get(`/candidates/${text}`), 404, "not_found");
    expectProblem(await client.post("/candidates/external:ats-2/documents", { name: "CV" }), 404, "not_found");
  });

  it("does not find another account's candidate", async () => {
    await client.post("/candidates", { external_id: "ats-1" });
    const stranger = (await service.account()).client;
    expectProblem(await stranger.get("/candidates/external:ats-1"), 404, "not_found");
  });

  it("replays a request after the external_id has gone to another candidate", async () => {
    const { body: first } = await client.post("/candidates", { external_id: "ats-1" });
    const key = { "Idempotency-Key": "visa" };
    const added = await client.post("/candidates/external:ats-1/documents", { name: "Visa" }, key);
    await client.patch(`/candidates/${first.id}`, { external_id: "old-1" });
    const lost = await client.post("/candidates/external:ats-1/documents", { name: "Visa" }, key);
    expect(lost.body).to.deep.equal(added.body);
    const { body: second } = await client.post("/candidates", { external_id: "ats-1" });
    await client.post("/candidates/external:ats-1/documents", { name: "Visa" }, key);
    expect((await client.get(`/candidates/${second.id}`)).body.documents).to.deep.equal([]);
  });

  it("erases the responses that are stored for replays", async () => {
    await client.post("/candidates", { external_id: "ats-1" });
    const key = { "Idempotency-Key": "visa" };
    await client.post("/candidates/external:ats-1/documents", { name: "Visa" }, key);
    await client.request("DELETE", "/candidates/external:ats-1");
    expectProblem(
      await client.post("/candidates/external:ats-1/documents", { name: "Visa" }, key),
      410,
      "candidate_deleted",
    );
  });
});
