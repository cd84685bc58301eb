import { randomBytes } from "node:crypto";
import { expect } from "chai";
import pLimit from "p-limit";
import { jsonResponse } from "../../src/http/response.ts";
import type { NewId } from "../../src/infra/ids.ts";
import { type Idempotency, KEPT_MS } from "../../src/idempotency/idempotency.ts";
import { IdempotencyStore } from "../../src/idempotency/store.ts";
import { connectMongo } from "../../src/infra/mongo.ts";
import { problem } from "../../src/problems.ts";
import { withDatabase, withOptions } from "../support/mongo-url.ts";
import { testConfig } from "../support/service.ts";
import { candidateOf, isReplay, newRequest, refusalOf, replayOf, useWorkbench } from "./workbench.ts";

describe("the stored outcome of a request with an Idempotency-Key", () => {
  const bench = useWorkbench();
  let replica: Idempotency;
  before(() => {
    replica = bench.replica();
  });
  beforeEach(() => bench.clear());

  const failing = (error: Error, ids: string[]) => (newId: NewId) => {
    ids.push(newId("cand"), newId("doc"), newId("doc"));
    return Promise.reject(error);
  };

  const FAILURES: [string, Error][] = [
    [
      "store_unavailable",
      problem("store_unavailable", "The store did not answer in time.", { headers: { "Retry-After": "2" } }),
    ],
    ["an internal error", new TypeError("x is not a function")],
  ];
  for (const [what, error] of FAILURES) {
    it(`is absent after ${what}: a retry does the work at once, with the same ids`, async () => {
      const request = newRequest();
      const ids: string[] = [];
      expect(await replica.once(request, failing(error, ids)).catch((thrown: unknown) => thrown)).to.equal(error);
      expect(await replica.once(request, failing(error, ids)).catch((thrown: unknown) => thrown)).to.equal(error);
      const done = await replica.once(request, bench.create());
      expect(isReplay(done)).to.equal(false);
      expect(new Set(ids)).to.have.property("size", 3);
      expect(ids.slice(3)).to.deep.equal(ids.slice(0, 3));
      expect(candidateOf(done).id).to.equal(ids[0]);
    });
  }

  it("is the created candidate even if the store failed after creating it", async () => {
    const request = newRequest();
    const cutOff = async (newId: NewId) => {
      await bench.create({ external_id: "ats-1" })(newId);
      throw problem("store_unavailable", "The store did not answer in time.");
    };
    expect((await refusalOf(replica.once(request, cutOff))).code).to.equal("store_unavailable");
    const [made] = await bench.candidates();
    const retry = await replica.once(request, bench.create({ external_id: "ats-1" }));
    expect(candidateOf(retry)).to.deep.equal(made);
    expect(await bench.candidates()).to.have.length(1);
  });

  it("is stored before the response is given: else the client gets 503, and its retry finds what exists", async () => {
    const store = new (class extends IdempotencyStore {
      override finish(): Promise<boolean> {
        return Promise.reject(problem("store_unavailable", "The store did not answer in time."));
      }
    })(bench.mongo);
    const request = newRequest();
    const failed = bench.replica({ store }).once(request, bench.create());
    expect((await refusalOf(failed)).code).to.equal("store_unavailable");
    const [made] = await bench.candidates();
    const retry = await replica.once(request, bench.create());
    expect(isReplay(retry)).to.equal(false);
    expect(candidateOf(retry)).to.deep.equal(made);
    expect(await replica.once(request, bench.create())).to.deep.equal(replayOf(retry));
    expect(await bench.candidates()).to.have.length(1);
  });

  it("is the whole problem if the subject was erased", async () => {
    const request = { ...newRequest(), subject: "cand_1" };
    const extras = {
      errors: [{ pointer: "/a", detail: "b" }],
      members: { candidate_id: "cand_1" },
      headers: { Allow: "GET" },
    };
    await replica.once(request, bench.create());
    await replica.end(request.accountId, "cand_1", problem("candidate_deleted", "A sentence.", extras));
    const again = await refusalOf(replica.once(request, bench.create()));
    expect(again).to.include({ code: "candidate_deleted", message: "A sentence." });
    expect(again.extras).to.deep.equal({ ...extras, headers: { ...extras.headers, "Idempotent-Replayed": "true" } });
    expect(await bench.candidates()).to.have.length(1);
  });

  it("expires after exactly 24 hours, even if its record is not removed yet", async () => {
    const request = newRequest();
    const first = await replica.once(request, bench.create());
    bench.clock.time += KEPT_MS - 1;
    expect(await replica.once(request, bench.create())).to.deep.equal(replayOf(first));
    bench.clock.time += 1;
    const anew = await replica.once({ ...request, fingerprint: "another request" }, bench.create());
    expect(isReplay(anew)).to.equal(false);
    expect(candidateOf(anew).id).not.to.equal(candidateOf(first).id);
    expect(await bench.candidates()).to.have.length(2);
  });

  it("is removed only if it is older than the given time", async () => {
    const [old, young] = [newRequest(), newRequest()];
    await replica.once(old, bench.create());
    bench.clock.time += 1;
    const response = await replica.once(young, bench.create());
    expect(await bench.store.removeOlderThan(bench.clock.time, new AbortController().signal)).to.equal(1);
    expect(await bench.store.removeOlderThan(bench.clock.time, new AbortController().signal)).to.equal(0);
    expect(await replica.once(young, bench.create())).to.deep.equal(replayOf(response));
    expect(isReplay(await replica.once(old, bench.create()))).to.equal(false);
  });

  it("is removed in batches, however many there are", async () => {
    const record = {
      account: "acct_test",
      fingerprint: "",
      seed: "",
      owner: "",
      lease_until: 0,
      created_at: bench.clock.time,
      state: "running",
      outcome: null,
    } as const;
    const someAtATime = pLimit(20); // a busy store responds late if it gets all at once
    await Promise.all(
      Array.from({ length: 1_001 }, (_, n) => someAtATime(() => bench.store.insert({ _id: `n${n}`, ...record }))),
    );
    const { databaseName } = bench.mongo.db;
    const url = withOptions(withDatabase(testConfig().MONGODB_URL ?? "", databaseName), { monitorCommands: "true" });
    const mongo = await connectMongo({ url, timeoutMs: 5_000 });
    const sent: string[] = [];
    mongo.client.on("commandStarted", ({ commandName }) => sent.push(commandName));
    const store = new IdempotencyStore(mongo);
    expect(await store.removeOlderThan(bench.clock.time + 1, new AbortController().signal)).to.equal(1_001);
    const round = ["find", "delete"];
    expect(sent).to.deep.equal([...round, ...round, ...round, "find"]);
    await mongo.close();
  });

  /** The largest possible candidate, once with text that hardly compresses and once with text that grows most in JSON. */
  const LARGE: [string, () => string][] = [
    ["2 MiB of random text", () => randomBytes(1.5 * 1024 * 1024).toString("base64")],
    ["2 MiB of control characters, 12 MiB as JSON", () => "\u0001".repeat(2 * 1024 * 1024)],
  ];
  for (const [what, make] of LARGE) {
    it(`may be a response of ${what}`, async () => {
      const request = newRequest();
      const value = { text: make() };
      const response = await replica.once(request, () => Promise.resolve(jsonResponse(201, value)));
      const again = await replica.once(request, bench.create());
      expect(isReplay(again)).to.equal(true);
      expect(again.headers).to.deep.equal(replayOf(response).headers);
      expect(again.body.toString() === JSON.stringify(value)).to.equal(true);
    });
  }
});
