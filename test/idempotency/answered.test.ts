import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { createLog } from "../../src/infra/log.ts";
import { startReplica } from "../../src/process/replica.ts";
import { DOCUMENT, PERSON, tracesIn, until } from "../erasure/support.ts";
import { type Network, startNetwork } from "../faults/store/network.ts";
import { Client, expectProblem } from "../support/client.ts";
import { primaryOf, withDatabase } from "../support/mongo-url.ts";
import { operationsDuring } from "../support/operations.ts";
import { type Service, startService, type TestAccount, testConfig } from "../support/service.ts";
import { useNoService } from "../support/use-service.ts";
import { newKey } from "./support.ts";

describe("a POST whose outcome is on its way to MongoDB", () => {
  useNoService();
  const { MONGODB_URL = "" } = process.env;
  const database = `test-${randomUUID()}`;
  let network: Network;
  let here: Service;
  let there: Service;
  let account: TestAccount;
  let other: Client;
  before(async function () {
    const primary = await primaryOf(MONGODB_URL);
    if (primary.tls) this.skip();
    network = await startNetwork(primary.port, primary.host);
    here = await startService({ MONGODB_URL: primary.through(`127.0.0.1:${network.port}`, database) });
    there = await startService({ MONGODB_URL: withDatabase(MONGODB_URL, database) });
  });
  beforeEach(async () => {
    account = await here.account();
    other = new Client(there.url, account.key);
  });
  afterEach(() => network.release());
  after(async () => {
    await here?.stopAtOnce();
    await there?.stopAtOnce();
    network?.close();
  });

  /** Holds back the next outcome that goes through the network. Resolves when it has come. */
  function hold(): Promise<void> {
    return new Promise((resolve) => {
      network.holds = (data) => {
        const isOutcome = ["updates", "idempotency_records", "outcome"].every((part) => data.includes(part));
        if (!isOutcome) return false;
        network.holds = () => false;
        resolve();
        return true;
      };
    });
  }
  const post = (path: string, json: unknown, key: string, by = account.client) =>
    by.post(path, json, { "Idempotency-Key": key });

  it("is answered after one round trip more than a POST without a key", async () => {
    const outcome = hold();
    const operations = await operationsDuring(async () => {
      expect((await post("/candidates", {}, newKey())).status).to.equal(201);
      await outcome; // nothing has answered this one
    });
    expect(operations).to.deep.equal(["insert idempotency_records", "insert candidates", "update idempotency_records"]);
    const without = await operationsDuring(() => account.client.post("/candidates"));
    expect(without).to.deep.equal(["insert candidates"]);
  });

  it("is replayed on its replica and on another one, also right after its answer", async () => {
    for (let round = 0; round < 10; round++) {
      const key = newKey();
      const first = await post("/candidates", { name: "Ann" }, key);
      const replays = await Promise.all(
        [other, account.client].map((by) => post("/candidates", { name: "Ann" }, key, by)),
      );
      for (const { headers, status, body } of replays) {
        expect(headers.get("idempotent-replayed")).to.equal("true");
        expect({ status, body }).to.deep.equal({ status: 201, body: first.body });
      }
    }
  });

  it("is in flight on another replica until then, and is then replayed", async () => {
    const outcome = hold();
    const key = newKey();
    const { body } = await post("/candidates", {}, key);
    await outcome;
    const same = post("/candidates", {}, key);
    expectProblem(await post("/candidates", {}, key, other), 409, "idempotency_in_flight");
    expectProblem(await post("/candidates", { name: "Bob" }, key, other), 422, "idempotency_key_reused");
    network.release();
    expect((await same).headers.get("idempotent-replayed")).to.equal("true");
    expect((await post("/candidates", {}, key, other)).body).to.deep.equal(body);
  });

  it("is not replayed once the candidate is erased, and its outcome brings nothing of it back", async () => {
    const outcome = hold();
    const key = newKey();
    const { body } = await post("/candidates", PERSON, key);
    await outcome;
    expect((await other.request("DELETE", `/candidates/${body.id}`)).status).to.equal(204);
    network.release();
    expectProblem(await post("/candidates", PERSON, key), 410, "candidate_deleted"); // it has waited for the outcome
    expect(await tracesIn(there.operators.mongo)).to.deep.equal([]);
  });

  it("is not replayed once the document is deleted, and its outcome brings nothing of it back", async () => {
    const { id } = (await account.client.post("/candidates")).body;
    const outcome = hold();
    const key = newKey();
    const { body } = await post(`/candidates/${id}/documents`, DOCUMENT, key);
    await outcome;
    expect((await other.request("DELETE", `/candidates/${id}/documents/${body.id}`)).status).to.equal(204);
    network.release();
    expectProblem(await post(`/candidates/${id}/documents`, DOCUMENT, key), 404, "not_found");
    expect(await tracesIn(there.operators.mongo)).to.deep.equal([]);
  });

  it("is stored before its replica stops", async () => {
    const log: string[] = [];
    const config = testConfig({ MONGODB_URL: here.config.MONGODB_URL ?? "" });
    const replica = await startReplica(config, createLog("info", { write: (line) => void log.push(line) }));
    const outcome = hold();
    const key = newKey();
    const first = await post("/candidates", {}, key, new Client(`http://127.0.0.1:${replica.port}`, account.key));
    await outcome;
    const stopped = replica.stop();
    const livez = `http://127.0.0.1:${replica.opsPort}/livez`;
    await until(() =>
      fetch(livez).then(
        () => false,
        () => true,
      ),
    ); // only the connections to the servers are left
    for (let n = 0; n < 20; n++) await other.get("/candidates");
    expect(log.join("")).not.to.include('"stopped"');
    network.release();
    await stopped;
    expect(log.join("")).to.include('"stopped"');
    const replay = await post("/candidates", {}, key, other);
    expect(replay.headers.get("idempotent-replayed")).to.equal("true");
    expect(replay.body).to.deep.equal(first.body);
  });
});
