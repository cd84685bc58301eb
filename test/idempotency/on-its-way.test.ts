import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { DOCUMENT, PERSON, tracesIn } from "../erasure/support.ts";
import { type Network, startNetwork } from "../faults/store/network.ts";
import { Client, expectProblem } from "../support/client.ts";
import { primaryOf, withDatabase } from "../support/mongo-url.ts";
import { operationsDuring } from "../support/operations.ts";
import { type Service, startService, type TestAccount } from "../support/service.ts";
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

  it("is answered once the outcome is stored: two round trips more than a POST without a key", async () => {
    const outcome = hold();
    let answered = false;
    const operations = await operationsDuring(async () => {
      const response = post("/candidates", {}, newKey());
      void response.then(() => (answered = true));
      await outcome;
      expect((await other.get("/limits")).status).to.equal(200);
      expect(answered).to.equal(false);
      network.release();
      expect((await response).status).to.equal(201);
    });
    expect(operations).to.deep.equal(["insert idempotency_records", "insert candidates", "update idempotency_records"]);
    const without = await operationsDuring(() => account.client.post("/candidates"));
    expect(without).to.deep.equal(["insert candidates"]);
  });

  it("is replayed on its replica and on another one, also right after its response", async () => {
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

  it("is in flight on every replica until then, and is then replayed", async () => {
    const outcome = hold();
    const key = newKey();
    const response = post("/candidates", {}, key);
    await outcome;
    for (const by of [account.client, other]) {
      expectProblem(await post("/candidates", {}, key, by), 409, "idempotency_in_flight");
      expectProblem(await post("/candidates", { name: "Bob" }, key, by), 422, "idempotency_key_reused");
    }
    network.release();
    const { body } = await response;
    for (const by of [account.client, other]) {
      const replay = await post("/candidates", {}, key, by);
      expect(replay.headers.get("idempotent-replayed")).to.equal("true");
      expect(replay.body).to.deep.equal(body);
    }
  });

  it("gives nothing of the candidate if that is erased first, and brings nothing of it back", async () => {
    const outcome = hold();
    const key = newKey();
    const response = post("/candidates", PERSON, key);
    await outcome;
    const [made] = (await other.get("/candidates")).body.data;
    expect((await other.request("DELETE", `/candidates/${made?.id}`)).status).to.equal(204);
    network.release();
    expectProblem(await response, 410, "candidate_deleted");
    expectProblem(await post("/candidates", PERSON, key), 410, "candidate_deleted");
    expect(await tracesIn(there.operators.mongo)).to.deep.equal([]);
  });

  it("is not replayed if the document is deleted first, and its outcome brings nothing of it back", async () => {
    const { id } = (await account.client.post("/candidates")).body;
    const outcome = hold();
    const key = newKey();
    const response = post(`/candidates/${id}/documents`, DOCUMENT, key);
    await outcome;
    const [made] = (await other.get(`/candidates/${id}`)).body.documents;
    expect((await other.request("DELETE", `/candidates/${id}/documents/${made?.id}`)).status).to.equal(204);
    network.release();
    expect((await response).body.id).to.equal(made?.id);
    expectProblem(await post(`/candidates/${id}/documents`, DOCUMENT, key), 404, "not_found");
    expect(await tracesIn(there.operators.mongo)).to.deep.equal([]);
  });
});
