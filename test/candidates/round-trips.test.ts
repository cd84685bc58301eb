import { expect } from "chai";
import { Client, expectProblem } from "../support/client.ts";
import { operationsDuring } from "../support/operations.ts";
import { useAccount, useNoService, useOwnService } from "../support/use-service.ts";

const READ = "find candidates";
const WRITE = "update candidates";

describe("the round trips of a change", () => {
  useNoService();
  const { client } = useAccount(useOwnService());

  it("is a read and a write for a candidate, its outreach, documents and references, which are looked up first", async () => {
    const { body } = await client.post("/candidates", { documents: ["CV"], references: [{}] });
    const path = `/candidates/${body.id}`;
    const paths: [path: string, patch: object, lookup?: string][] = [
      [path, { name: "Ann" }],
      [`${path}/outreach`, { docs_chase_attempts: 7 }],
      [`${path}/documents/${body.documents[0]?.id}`, { name: "Passport" }],
      [`/references/${body.references[0]?.id}`, { name: "Bob" }, "find reference_index"],
    ];
    for (const [changed, patch, lookup] of paths) {
      const operations = await operationsDuring(async () => {
        expect((await client.patch(changed, patch)).status).to.equal(200);
      });
      expect(operations, changed).to.deep.equal([...(lookup ? [lookup] : []), READ, WRITE]);
    }
    const { body: after } = await client.get(path);
    expect(after).to.include({ version: 5, name: "Ann", docs_chase_attempts: 7 });
    expect(after.documents[0]?.name).to.equal("Passport");
    expect(after.references[0]?.name).to.equal("Bob");
  });

  it("includes the look-up if it adds a reference", async () => {
    const { body } = await client.post("/candidates");
    const operations = await operationsDuring(async () => {
      expect((await client.post(`/candidates/${body.id}/references`, { name: "Ann" })).status).to.equal(201);
    });
    expect(operations.filter((operation) => !operation.includes("idempotency"))).to.deep.equal([
      READ,
      "insert reference_index",
      WRITE,
    ]);
  });

  it("is a read if nothing has changed, or if the change is refused", async () => {
    const { body, headers } = await client.post("/candidates", { name: "Ann" });
    const path = `/candidates/${body.id}`;
    const read = (run: () => Promise<unknown>) =>
      operationsDuring(run).then((all) => expect(all).to.deep.equal([READ]));
    await read(async () => {
      const { body } = await client.patch(path, { name: "Ann" });
      expect(body).to.include({ version: 1, name: "Ann" });
    });
    const etag = headers.get("etag") ?? "";
    expect((await client.patch(path, { name: "Bob" }, { "If-Match": etag })).status).to.equal(200);
    await read(async () => {
      expectProblem(await client.patch(path, { name: "Eve" }, { "If-Match": etag }), 412, "version_mismatch");
    });
    await read(async () => {
      expectProblem(await client.patch(`${path}/documents/doc_none`, { name: "x" }), 404, "not_found");
    });
  });
});

describe("a change of a deleted candidate", () => {
  const { client } = useAccount(useOwnService());

  it("only reads", async () => {
    const { body } = await client.post("/candidates", { name: "Ann" });
    const path = `/candidates/${body.id}`;
    expect((await client.request("DELETE", path)).status).to.equal(204);
    const operations = await operationsDuring(async () => {
      expectProblem(await client.patch(path, { name: "Bob" }), 410, "candidate_deleted");
    });
    expect(operations).to.deep.equal([READ]);
  });
});

describe("a candidate that two replicas change", () => {
  const here = useOwnService();
  const there = useOwnService(() => ({ MONGODB_URL: here.config.MONGODB_URL ?? "" }));
  const account = useAccount(here);
  const { client } = account;
  let other: Client;
  beforeEach(() => {
    other = new Client(there.url, account.key);
  });

  /** A candidate that both replicas have read. */
  async function known(given: object = {}): Promise<{ path: string; etag: string; references: string[] }> {
    const { body, headers } = await client.post("/candidates", given);
    const path = `/candidates/${body.id}`;
    await other.get(path);
    return { path, etag: headers.get("etag") ?? "", references: body.references.map(({ id }) => `/references/${id}`) };
  }

  it("loses no change when they take turns, and no race", async () => {
    const { path } = await known();
    const operations = await operationsDuring(async () => {
      for (let n = 1; n <= 10; n++) {
        const { body } = await [client, other][n % 2]!.patch(path, { metadata: { [`m${n}`]: String(n) } });
        expect(body.version).to.equal(n + 1);
        expect(Object.keys(body.metadata)).to.have.length(n);
      }
    });
    expect(operations.filter((operation) => operation === WRITE)).to.have.length(10);
  });

  it("loses no change of 40 at once", async () => {
    const { path } = await known();
    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, n) => [client, other][n % 2]!.patch(path, { metadata: { [`m${n}`]: "" } })),
    );
    expect(responses.every(({ status }) => status === 200)).to.equal(true);
    const { body } = await client.get(path);
    expect(body.version).to.equal(41);
    expect(Object.keys(body.metadata)).to.have.length(40);
  });

  it("is judged as it is now: a fresh If-Match passes, a stale one is refused, and a repeated change changes nothing", async () => {
    const { path, etag } = await known({ name: "Ann" });
    const changed = await client.patch(path, { name: "Bob" });
    const fresh = changed.headers.get("etag") ?? "";
    const second = await other.patch(path, { name: "Carl" }, { "If-Match": fresh });
    expect(second.body).to.include({ name: "Carl", version: 3 });
    expectProblem(await client.patch(path, { name: "Eve" }, { "If-Match": fresh }), 412, "version_mismatch");
    expectProblem(await client.patch(path, { name: "Eve" }, { "If-Match": etag }), 412, "version_mismatch");
    expect((await client.patch(path, { name: "Carl" })).body).to.include({ name: "Carl", version: 3 });
  });

  it("does not keep what the other one has changed back", async () => {
    const { path } = await known({ name: "Ann" });
    await client.patch(path, { name: "Bob" });
    expect((await other.patch(path, { name: "Ann" })).body).to.include({ name: "Ann", version: 3 });
  });

  it("leaves no look-up if one adds a reference to what the other one has erased", async () => {
    const { path } = await known({ name: "Ann", references: [{ name: "Bob" }] });
    expect((await other.patch(path, { name: "Eve" })).status, "what the other one writes, it keeps").to.equal(200);
    expect((await client.request("DELETE", path)).status).to.equal(204);
    expectProblem(await other.post(`${path}/references`, { name: "Carl" }), 410, "candidate_deleted");
    const lookUps = here.operators.mongo.db.collection("reference_index");
    expect(await lookUps.find({ account: account.id }).toArray()).to.deep.equal([]);
  });

  it("stays erased for both", async () => {
    const { path, references } = await known({ name: "Ann", references: [{ name: "Bob" }] });
    await other.patch(references[0]!, { name: "Eve" });
    await client.request("DELETE", path);
    for (const each of [other, client]) {
      expectProblem(await each.patch(path, { job_title: "x" }), 410, "candidate_deleted");
      expectProblem(await each.patch(`${path}/outreach`, { docs_chase_attempts: 1 }), 410, "candidate_deleted");
      expectProblem(await each.patch(references[0]!, { name: "x" }), 404, "not_found");
      expectProblem(await each.post(`${path}/references`, { name: "x" }), 410, "candidate_deleted");
    }
    const { body } = await client.get("/candidates");
    expect(body.data).to.have.length(1);
    expect(body.data[0]).to.include({ deleted: true, version: 3 });
    for (const name of ["reference_index", "content_pending"])
      expect(await here.operators.mongo.db.collection(name).find({ account: account.id }).toArray()).to.deep.equal([]);
  });
});
