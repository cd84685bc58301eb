import { expect } from "chai";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";

describe("PATCH /candidates/{id}", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;
  let path: string;
  beforeEach(async () => {
    const { body } = await client.post("/candidates", {
      name: "Ann",
      email: "ann@example.com",
      metadata: { a: "1", b: "2" },
    });
    path = `/candidates/${body.id}`;
  });

  it("merges: an absent field stays, null clears a field, and metadata merges member by member", async () => {
    const { status, body } = await client.patch(path, {
      name: null,
      job_title: "Nurse",
      metadata: { a: null, c: "3" },
    });
    expect(status).to.equal(200);
    expect(body).to.deep.include({
      name: null,
      email: "ann@example.com",
      job_title: "Nurse",
      metadata: { b: "2", c: "3" },
      version: 2,
    });
    expect((await client.get(path)).body).to.deep.equal(body);
    expect((await client.patch(path, { metadata: null })).body.metadata).to.deep.equal({});
  });

  it("accepts application/merge-patch+json, and charges only writes", async () => {
    const response = await client.patch(path, { name: "Bea" }, { "Content-Type": "application/merge-patch+json" });
    expect(response.body.name).to.equal("Bea");
    expect(await account.used()).to.deep.equal({ create: 1, writes: 1 });
  });

  it("keeps the version if nothing changes", async () => {
    const before = (await client.get(path)).body;
    expect((await client.patch(path, {})).body).to.deep.equal(before);
    expect((await client.patch(path, { name: "Ann" })).body).to.deep.equal(before);
  });

  it("moves the candidate to the end of the feed", async () => {
    const { body: other } = await client.post("/candidates");
    await client.patch(path, { name: "Bea" });
    expect((await client.get("/candidates")).body.data.map(({ id }) => id)).to.deep.equal([
      other.id,
      path.split("/").at(-1),
    ]);
  });

  it("withdraws, and can then be edited but not started", async () => {
    const withdrawn = await client.patch(path, { withdrawn: true, withdrawal_reason: "Moved away" });
    expect(withdrawn.body).to.deep.include({
      state: "withdrawn",
      state_reason: "Moved away",
      withdrawn: true,
      waiting_on: [],
    });
    expectProblem(await client.post(`${path}/start`), 409, "candidate_withdrawn");
    const writes = [
      client.patch(path, { name: "Bea" }),
      client.patch(path, { withdrawn: true }),
      client.patch(`${path}/outreach`, { docs_chase_attempts: 1 }),
      client.post(`${path}/references`, {}),
    ];
    for (const { status } of await Promise.all(writes)) expect(status).to.be.oneOf([200, 201]);
    expect((await client.get(path)).body).to.deep.include({
      state: "withdrawn",
      withdrawal_reason: "Moved away",
      waiting_on: [],
      name: "Bea",
      docs_chase_attempts: 1,
    });
    const back = await client.patch(path, { withdrawn: false });
    expect(back.body).to.include({ state: "created", withdrawn: false, withdrawal_reason: null, name: "Bea" });
  });

  it("refuses an external_id that another candidate has", async () => {
    const { body } = await client.post("/candidates", { external_id: "taken" });
    expect(
      expectProblem(await client.patch(path, { external_id: "taken" }), 409, "external_id_taken").candidate_id,
    ).to.equal(body.id);
    expect((await client.patch(path, { external_id: "free" })).status).to.equal(200);
  });

  it("refuses metadata that would grow beyond 50 members", async () => {
    const many = Object.fromEntries(Array.from({ length: 49 }, (_, n) => [`m${n}`, ""]));
    expectProblem(await client.patch(path, { metadata: many }), 422, "validation_failed");
    expect((await client.get(path)).body.metadata).to.deep.equal({ a: "1", b: "2" });
  });

  it("returns 404 for another account's candidate", async () => {
    const stranger = (await service.account()).client;
    expectProblem(await stranger.patch(path, { name: "x" }), 404, "not_found");
    expectProblem(await stranger.patch(`${path}/outreach`, {}), 404, "not_found");
    expectProblem(await stranger.post(`${path}/start`), 404, "not_found");
    expectProblem(await stranger.post(`${path}/references`), 404, "not_found");
  });

  it("lets exactly one of 100 concurrent writers with the same If-Match win", async () => {
    const etag = (await client.get(path)).headers.get("etag") ?? "";
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, n) => client.patch(path, { name: `n${n}` }, { "If-Match": etag })),
    );
    expect(responses.filter(({ status }) => status === 200)).to.have.length(1);
    for (const response of responses.filter(({ status }) => status !== 200))
      expectProblem(response, 412, "version_mismatch");
    expect((await client.get(path)).body.version).to.equal(2);
  });

  it("applies all of 100 concurrent writes without If-Match", async () => {
    const second = await account.another();
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        [account, second][n % 2]!.client.patch(path, { metadata: { [`m${n % 40}`]: String(n) } }),
      ),
    );
    expect(responses.every(({ status }) => status === 200)).to.equal(true);
    const { body } = await client.get(path);
    expect(body.version).to.equal(101);
    expect(Object.keys(body.metadata)).to.have.length(42);
  });

  it("accepts any version with If-Match: *, and refuses a weak ETag", async () => {
    const etag = (await client.get(path)).headers.get("etag") ?? "";
    expectProblem(await client.patch(path, { name: "y" }, { "If-Match": `W/${etag}` }), 412, "version_mismatch");
    expect((await client.patch(path, { name: "x" }, { "If-Match": "*" })).status).to.equal(200);
  });
});
