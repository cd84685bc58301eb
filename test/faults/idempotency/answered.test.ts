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

/** A POST that was answered, but whose answer was never stored. */
interface Answered {
  readonly first: Answer;
  /** Sends it again until it is not in flight any more: the lease of the dead replica lasts for seconds. */
  readonly retry: () => Promise<Answer>;
}

describe("a replica killed with SIGKILL after an answer, before the answer is stored", function () {
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

  /** Sends the POSTs to a replica that is killed once each of them is answered. */
  async function answeredOnly(posts: readonly (readonly [path: string, json: unknown])[]): Promise<Answered[]> {
    const MONGODB_URL = primary.through(`127.0.0.1:${network.port}`, service.operators.mongo.db.databaseName);
    const victim = await startMember({ ...environmentOf(service.config), MONGODB_URL });
    network.holds = (data) => ["updates", "idempotency_records", "outcome"].every((part) => data.includes(part));
    const victims = new Client(`http://127.0.0.1:${victim.port}`, account.key);
    const answered = await Promise.all(
      posts.map(async ([path, json]) => {
        const headers = { "Idempotency-Key": newKey() };
        const first = await victims.post(path, json, headers);
        const retry = async () => {
          for (;;) {
            const answer = await client.post(path, json, headers);
            if (answer.body.code !== "idempotency_in_flight") return answer;
            await setTimeout(200);
          }
        };
        return { first, retry };
      }),
    );
    await victim.end("SIGKILL");
    network.cut(); // what it held back is lost
    network.holds = () => false;
    return answered;
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

  /** Expects that the retry has done nothing, and that it is what is replayed from then on. */
  async function expectNow(path: string, { first, retry }: Answered, status: number): Promise<void> {
    expect(first.status).to.equal(status);
    const now = (await client.get(path)).body;
    const again = await retry();
    expect([again.status, again.headers.get("idempotent-replayed")]).to.deep.equal([status, null]);
    expect(again.body).to.deep.equal(now);
    expect((await client.get(path)).body).to.deep.equal(now);
    const replay = await retry();
    expect([replay.headers.get("idempotent-replayed"), replay.body]).to.deep.equal(["true", now]);
  }

  it("neither undoes a later change nor creates anything twice, whatever the POST", async () => {
    const [started, withdrawn, parent] = [await candidate({ documents: ["CV"] }), await candidate(), await candidate()];
    const file = { content: { filename: "a.txt", content_type: "text/plain", data: "Ynl0ZXM=" } };
    const [create, start, stopped, document, reference] = await answeredOnly([
      ["/candidates", { external_id: "ats-1", name: "Ann", documents: ["CV", { name: "Visa", ...file }] }],
      [`${started}/start`, undefined],
      [`${withdrawn}/start`, undefined],
      [`${parent}/documents`, { name: "Degree", ...file }],
      [`${parent}/references`, { name: "Bob" }],
    ]);
    const created = `/candidates/${create!.first.body.id}`;
    await changed(created, { name: "Eve", external_id: "ats-2" });
    expect((await client.post("/candidates", { external_id: "ats-1" })).status, "another has its id now").to.equal(201);
    await changed(started, { name: "Eve" });
    await changed(withdrawn, { withdrawn: true });
    await changed(`${parent}/documents/${document!.first.body.id}`, { state: "accepted" });
    await changed(`/references/${reference!.first.body.id}`, { name: "Eve", state: "received" });

    await expectNow(created, create!, 201);
    await expectNow(started, start!, 200);
    await expectNow(`${parent}/documents/${document!.first.body.id}`, document!, 201);
    await expectNow(`/references/${reference!.first.body.id}`, reference!, 201);
    expectProblem(await stopped!.retry(), 409, "candidate_withdrawn");
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
    const [create, document, reference] = await answeredOnly([
      ["/candidates", { name: "Ann" }],
      [`${parent}/documents`, { name: "Degree" }],
      [`${parent}/references`, { name: "Bob" }],
    ]);
    await deleted(`/candidates/${create!.first.body.id}`);
    await deleted(`${parent}/documents/${document!.first.body.id}`);
    await deleted(`/references/${reference!.first.body.id}`);
    const before = (await client.get("/candidates")).body.data;
    expectProblem(await create!.retry(), 410, "candidate_deleted");
    expectProblem(await document!.retry(), 404, "not_found");
    expectProblem(await reference!.retry(), 404, "not_found");
    expect((await client.get("/candidates")).body.data).to.deep.equal(before);
  });
});
