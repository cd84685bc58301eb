import { expect } from "chai";
import { expectProblem } from "../support/client.ts";
import { useService, useSharedAccount } from "../support/use-service.ts";

describe("GET /candidates/{id}", () => {
  const service = useService();
  const { client } = useSharedAccount(service);

  it("responds with the candidate as creation did, with a strong ETag, and keeps it out of shared caches", async () => {
    const created = await client.post("/candidates", { name: "Ann" });
    const read = await client.get(`/candidates/${created.body.id}`);
    expect(read.status).to.equal(200);
    expect(read.body).to.deep.equal(created.body);
    expect(read.headers.get("etag")).to.match(/^"[\w-]{27}"$/);
    expect(read.headers.get("etag")).to.equal(created.headers.get("etag"));
    expect(read.headers.get("cache-control")).to.equal("private, no-cache");
  });

  it("returns 304 to a client that has the current ETag, and charges that too", async () => {
    const { body } = await client.post("/candidates");
    const first = await client.get(`/candidates/${body.id}`);
    const again = await client.get(`/candidates/${body.id}`, { "If-None-Match": first.headers.get("etag") ?? "" });
    expect(again.status).to.equal(304);
    expect(again.body.text).to.equal("");
    const remaining = (headers: Headers) => Number(/"key-reads";r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
    expect(remaining(again.headers)).to.equal(remaining(first.headers) - 1);
    expect((await client.get(`/candidates/${body.id}`, { "If-None-Match": '"other"' })).status).to.equal(200);
  });

  it("returns the same for another account's candidate as for one that never existed", async () => {
    const { body } = await client.post("/candidates");
    const stranger = (await service.account()).client;
    const theirs = expectProblem(await stranger.get(`/candidates/${body.id}`), 404, "not_found");
    const nobodys = expectProblem(await stranger.get("/candidates/cand_00000000000000000000000000"), 404, "not_found");
    const { detail: first, request_id: _1, ...same } = theirs;
    const { detail: second, request_id: _2, ...asThis } = nobodys;
    expect(same).to.deep.equal(asThis);
    expect(first.replace(/cand_\w+/, "")).to.equal(second.replace(/cand_\w+/, ""));
  });

  for (const id of ["x", "cand_", "%00", "a".repeat(5000), "%F0%9F%98%80", "$ne"]) {
    it(`returns 404 for the id ${id.slice(0, 20)}`, async () => {
      expectProblem(await client.get(`/candidates/${id}`), 404, "not_found");
    });
  }
});
