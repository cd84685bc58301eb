import { expect } from "chai";
import { useAccount } from "../support/use-service.ts";

describe("PATCH /candidates/bulk", () => {
  const account = useAccount();
  const { client } = account;
  const send = (candidates: readonly unknown[]) =>
    client.request("PATCH", `/candidates/bulk?count=${candidates.length}`, { json: { candidates } });

  async function create(count: number): Promise<string[]> {
    const candidates = Array.from({ length: count }, (_, n) => ({ external_id: `row-${n}`, name: "Ada" }));
    const { body } = await client.post(`/candidates/bulk?count=${count}`, { candidates });
    return body.results.map(({ id }) => id!);
  }

  it("changes candidates by id and by external_id, and charges writes", async () => {
    const [first, , , fourth] = await create(5);
    const { status, body } = await send([
      { id: first, name: "Grace", external_id: "renamed" },
      { external_id: "row-1", withdrawn: true, withdrawal_reason: "gone", outreach_enabled: false },
      { external_id: "row-2", name: "Ada" },
      { id: fourth, metadata: { a: null }, docs_chase_attempts: 9 },
      { id: "cand_none", name: "Nobody" },
      { external_id: "none" },
      { external_id: null, name: "Nobody" },
      { id: first, state: "completed" },
      { id: first, external_id: "row-4" },
    ]);
    expect(status).to.equal(200);
    expect(body).to.include({ created: 0, updated: 3, unchanged: 1, failed: 5 });
    expect(body.results[0]).to.deep.equal({ index: 0, status: 200, id: first, external_id: "renamed", version: 2 });
    expect(body.results.slice(4).map(({ problem }) => problem!["code"])).to.deep.equal([
      "not_found",
      "not_found",
      "validation_failed",
      "validation_failed",
      "external_id_taken",
    ]);
    expect((await client.get("/candidates/external:row-1")).body).to.include({ state: "withdrawn", version: 2 });
    expect((await client.get("/candidates/external:row-2")).body.version).to.equal(1);
    expect(await account.used()).to.include({ create: 5, writes: 9 });
  });

  it("makes several changes of one candidate in their order, however it is named", async () => {
    const [first] = await create(2);
    const { body } = await send([
      { external_id: "row-0", name: "One" },
      { id: first, name: "Two", external_id: "moved" },
      { external_id: "moved", job_title: "Nurse" },
      { external_id: "row-0", name: "Three" },
      { external_id: "row-1", name: "Four" },
    ]);
    expect(body.results.map(({ status, version }) => [status, version])).to.deep.equal([
      [200, 2],
      [200, 3],
      [200, 4],
      [404, undefined],
      [200, 2],
    ]);
    expect((await client.get(`/candidates/${first}`)).body).to.include({
      name: "Two",
      job_title: "Nurse",
      external_id: "moved",
    });
  });

  it("hands an external_id from one candidate to another", async () => {
    const [first, second] = await create(2);
    const { body } = await send([
      { id: first, external_id: "free" },
      { id: second, external_id: "row-0" },
    ]);
    expect(body).to.include({ updated: 2, failed: 0 });
    expect((await client.get("/candidates/external:row-0")).body.id).to.equal(second);
  });

  it("is 410 for an erased candidate, alone", async () => {
    const [first, second] = await create(2);
    await client.request("DELETE", `/candidates/${first}`);
    const { body } = await send([
      { id: first, name: "Grace" },
      { id: second, name: "Grace" },
    ]);
    expect(body.results.map(({ status }) => status)).to.deep.equal([410, 200]);
  });
});
