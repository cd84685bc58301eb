import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { type Answer, Client, expectProblem } from "../../support/client.ts";
import { newKey } from "../../idempotency/support.ts";
import { type Primary, primaryOf } from "../../support/mongo-url.ts";
import { environmentOf } from "../../support/service.ts";
import { useAccount, useService } from "../../support/use-service.ts";
import { startMember } from "../../support/processes.ts";
import { skip } from "../skip.ts";
import { type Network, startNetwork } from "../store/network.ts";

/** Sends a POST again until it is not in flight any more: the lease of the dead replica lasts for seconds. */
type Retry = () => Promise<Answer>;

describe("a replica killed with SIGKILL after the work of a POST, before the outcome is stored", function () {
  this.timeout(60_000);
  const service = useService({ LIMIT_SCALE: 100 });
  const account = useAccount(service);
  const { client } = account;
  let primary: Primary;
  let network: Network;
  before(async function () {
    primary = await primaryOf(process.env.MONGODB_URL ?? "");
    if (primary.tls) skip(this, "it reads what goes to MongoDB, and the connection of MONGODB_URL is encrypted");
    network = await startNetwork(primary.port, primary.host);
  });
  after(() => network?.close());

  /** Sends the POSTs to a replica that is killed once it has done the work of each of them. */
  async function workedOnly(posts: readonly (readonly [path: string, json: unknown])[]): Promise<Retry[]> {
    const MONGODB_URL = primary.through(`127.0.0.1:${network.port}`, service.operators.mongo.db.databaseName);
    const victim = await startMember({ ...environmentOf(service.config), MONGODB_URL });
    const until = network.held + posts.length;
    network.holds = (data) => ["updates", "idempotency_records", "outcome"].every((part) => data.includes(part));
    const victims = new Client(`http://127.0.0.1:${victim.port}`, account.key);
    const responses: Promise<unknown>[] = [];
    const retries = posts.map(([path, json]) => {
      const headers = { "Idempotency-Key": newKey() };
      responses.push(victims.post(path, json, headers));
      return async () => {
        for (;;) {
          const answer = await client.post(path, json, headers);
          if (answer.body.code !== "idempotency_in_flight") return answer;
          await setTimeout(200);
        }
      };
    });
    const ended = Promise.allSettled(responses);
    while (network.held < until) await setTimeout(10);
    await victim.end("SIGKILL");
    expect(new Set((await ended).map(({ status }) => status))).to.deep.equal(new Set(["rejected"]));
    network.cut(); // what it held back is lost
    network.holds = () => false;
    return retries;
  }

  async function candidate(given: object = {}): Promise<string> {
    const { status, body } = await client.post("/candidates", given);
    expect(status).to.equal(201);
    return `/candidates/${body.id}`;
  }

  async function changed(path: string, patch: object): Promise<void> {
    expect((await client.patch(path, patch)).status).to.equal(200);
  }

  async function deleted(path: string): Promise<void> {
    expect((await client.request("DELETE", path)).status).to.equal(204);
  }

  /** Returns the path of the candidate with this name. */
  async function named(name: string): Promise<string> {
    const { data } = (await client.get("/candidates")).body;
    return `/candidates/${data.find((each) => each.name === name)?.id}`;
  }

  async function partsOf(path: string): Promise<{ document: string; reference: string }> {
    const { documents, references } = (await client.get(path)).body;
    return { document: `${path}/documents/${documents[0]?.id}`, reference: `/references/${references[0]?.id}` };
  }

  /** Expects that the retry does nothing, and that its response is what is replayed from then on. */
  async function expectNow(path: string, retry: Retry | undefined, status: number): Promise<void> {
    const now = (await client.get(path)).body;
    const again = await retry!();
    expect([again.status, again.headers.get("idempotent-replayed")]).to.deep.equal([status, null]);
    expect(again.body).to.deep.equal(now);
    expect((await client.get(path)).body).to.deep.equal(now);
    const replay = await retry!();
    expect([replay.headers.get("idempotent-replayed"), replay.body]).to.deep.equal(["true", now]);
  }

  it("neither undoes a later change nor creates anything twice, whatever the POST", async () => {
    const [started, withdrawn, parent] = [await candidate({ documents: ["CV"] }), await candidate(), await candidate()];
    const file = { content: { filename: "a.txt", content_type: "text/plain", data: "Ynl0ZXM=" } };
    const [create, start, stopped, add, refer] = await workedOnly([
      ["/candidates", { external_id: "ats-1", name: "Ann", documents: ["CV", { name: "Visa", ...file }] }],
      [`${started}/start`, undefined],
      [`${withdrawn}/start`, undefined],
      [`${parent}/documents`, { name: "Degree", ...file }],
      [`${parent}/references`, { name: "Bob" }],
    ]);
    const created = await named("Ann");
    const { document, reference } = await partsOf(parent);
    await changed(created, { name: "Eve", external_id: "ats-2" });
    expect((await client.post("/candidates", { external_id: "ats-1" })).status, "another has its id now").to.equal(201);
    await changed(started, { name: "Eve" });
    await changed(withdrawn, { withdrawn: true });
    await changed(document, { state: "accepted" });
    await changed(reference, { name: "Eve", state: "received" });

    await expectNow(created, create, 201);
    await expectNow(started, start, 200);
    await expectNow(document, add, 201);
    await expectNow(reference, refer, 201);
    expectProblem(await stopped!(), 409, "candidate_withdrawn");
    expect((await client.get(withdrawn)).body).to.include({ withdrawn: true, version: 3 });
    const { data } = (await client.get("/candidates")).body;
    expect(data).to.have.length(5);
    expect(data.flatMap(({ documents, references }) => [...documents, ...references])).to.have.length(5);
    const { db } = service.operators.mongo;
    expect(
      await db.collection("content_pending").find({ account: account.id, stage: "arriving" }).toArray(),
    ).to.deep.equal([]);
    expect((await db.collection("reference_index").find({ account: account.id }).toArray()).length).to.equal(1);
  });

  it("brings nothing back that was deleted since", async () => {
    const parent = await candidate();
    const [create, add, refer] = await workedOnly([
      ["/candidates", { name: "Ann" }],
      [`${parent}/documents`, { name: "Degree" }],
      [`${parent}/references`, { name: "Bob" }],
    ]);
    const { document, reference } = await partsOf(parent);
    await deleted(await named("Ann"));
    await deleted(document);
    await deleted(reference);
    const before = (await client.get("/candidates")).body.data;
    expectProblem(await create!(), 410, "candidate_deleted");
    expectProblem(await add!(), 404, "not_found");
    expectProblem(await refer!(), 404, "not_found");
    expect((await client.get("/candidates")).body.data).to.deep.equal(before);
  });
});
