import { expect } from "chai";
import { jsonResponse } from "../../src/http/response.ts";
import type { IdempotentRequest } from "../../src/idempotency/idempotency.ts";
import { type IdempotencyRecord, IdempotencyStore } from "../../src/idempotency/store.ts";
import type { NewId } from "../../src/infra/ids.ts";
import { problem, type ProblemCode } from "../../src/problems.ts";
import { ACCOUNT, candidateOf, gate, hang, isReplay, newRequest, refusalOf, useWorkbench } from "./workbench.ts";

const LEASE_MS = 5_000;
const SUBJECT = "cand_subject";

describe("a refusal of the work", () => {
  const bench = useWorkbench();
  let request: IdempotentRequest;
  beforeEach(async () => {
    request = { ...newRequest(), subject: SUBJECT };
    await bench.clear();
  });

  const ids: string[] = [];
  /** Returns work that records the id it would create, and is then refused. */
  const refused = (code: ProblemCode) => async (newId: NewId) => {
    ids.push(newId("doc"));
    throw problem(code, "Refused.");
  };
  const done = async () => jsonResponse(200, { done: true });
  const isBound = async () =>
    (await refusalOf(bench.replica().once({ ...request, fingerprint: "another" }, done))).code ===
    "idempotency_key_reused";

  it("frees the key: the next request with it begins anew", async () => {
    ids.length = 0;
    for (let n = 0; n < 2; n++) await refusalOf(bench.replica().once(request, refused("external_id_taken")));
    expect(new Set(ids).size).to.equal(2);
    expect(isReplay(await bench.replica().once({ ...request, fingerprint: "another" }, done))).to.equal(false);
  });

  it("leaves the key bound if what it created was deleted while it ran", async () => {
    ids.length = 0;
    const [begun, end] = [gate(), gate()];
    const first = bench.replica().once(request, async (newId) => {
      begun.open();
      await end.opened;
      return refused("not_found")(newId);
    });
    await begun.opened;
    await bench.replica().forget(ACCOUNT, SUBJECT);
    end.open();
    expect((await refusalOf(first)).code).to.equal("not_found");
    expect((await refusalOf(bench.replica().once(request, refused("not_found")))).code).to.equal("not_found");
    expect(new Set(ids).size, "the retry works with the same ids").to.equal(1);
    expect(await isBound()).to.equal(true);
  });

  it("leaves the key bound if a retry has taken over", async () => {
    const [begun, end] = [gate(), gate()];
    const first = bench.replica().once(request, async (newId) => {
      begun.open();
      await end.opened;
      return refused("version_mismatch")(newId);
    });
    await begun.opened;
    bench.clock.time += LEASE_MS;
    const second = await hang(bench.replica(), request, done);
    end.open();
    expect((await refusalOf(first)).code).to.equal("version_mismatch");
    expect(await isBound()).to.equal(true);
    second.release();
    await second.outcome;
  });

  it("leaves the key bound if what it created is deleted while a retry takes over", async () => {
    class RacedStore extends IdempotencyStore {
      #isFirst = true;
      override async find(account: string, id: string): Promise<IdempotencyRecord | null> {
        const found = await super.find(account, id);
        if (this.#isFirst) await this.forgetOutcomes(ACCOUNT, SUBJECT);
        this.#isFirst = false;
        return found;
      }
    }
    // The first attempt did its work, but was answered with 503. So the next may begin at once.
    await refusalOf(bench.replica().once(request, refused("store_unavailable")));
    const retry = bench.replica({ store: new RacedStore(bench.mongo) }).once(request, refused("not_found"));
    expect((await refusalOf(retry)).code).to.equal("not_found");
    expect(await isBound()).to.equal(true);
  });

  it("is not stored after a deletion: a later retry may succeed", async () => {
    await bench.replica().once(request, done);
    await bench.replica().forget(ACCOUNT, SUBJECT);
    const retry = () => bench.replica().once(request, refused("candidate_withdrawn"));
    expect((await refusalOf(retry())).code).to.equal("candidate_withdrawn");
    expect(isReplay(await bench.replica().once(request, done))).to.equal(false);
    expect(isReplay(await bench.replica().once(request, done))).to.equal(true);
  });

  /** Begins an attempt, lets a retry be refused, which frees the key, runs `meanwhile`, and lets the attempt finish. */
  async function overtaken(meanwhile: () => Promise<void>): Promise<void> {
    const first = await hang(bench.replica(), request, done);
    bench.clock.time += LEASE_MS;
    expect((await refusalOf(bench.replica().once(request, refused("version_mismatch")))).status).to.equal(412);
    await meanwhile();
    first.release();
    await first.outcome;
  }

  it("leaves the key bound to its request if an earlier attempt succeeds later", async () => {
    ids.length = 0;
    await overtaken(async () => {});
    expect(await isBound()).to.equal(true);
    const [record] = await bench.mongo.db.collection("idempotency_records").find({}).toArray();
    expect(record, "without its response").to.include({ lease_until: 0, outcome: null, forgotten: 1 });
    for (let n = 0; n < 2; n++) await refusalOf(bench.replica().once(request, refused("version_mismatch")));
    expect(await isBound(), "a refusal must not free it again").to.equal(true);
    expect(new Set(ids.slice(1)).size, "retries work with the same ids").to.equal(1);
  });

  it("does not let an earlier attempt store its response after an erasure", async () => {
    const gone = problem("not_found", "Erased.");
    await overtaken(() => bench.replica().end(ACCOUNT, SUBJECT, gone));
    expect((await refusalOf(bench.replica().once(request, refused("not_found")))).code).to.equal("not_found");
  });

  it("is answered with 503 if the key cannot be freed, so that the client sends the same request again", async () => {
    class FailingStore extends IdempotencyStore {
      override remove(): Promise<boolean> {
        return Promise.reject(problem("store_unavailable", "No response."));
      }
    }
    const first = bench.replica({ store: new FailingStore(bench.mongo) }).once(request, refused("external_id_taken"));
    expect((await refusalOf(first)).code).to.equal("store_unavailable");
  });

  it("is not given to a retry because a day has passed since: the candidate that exists is returned", async () => {
    const today = new Date(bench.clock.time).toISOString().slice(0, 10);
    const work = bench.create({ documents: [{ name: "Visa", state: "accepted", expires_on: today }] });
    const create = newRequest();
    const first = await hang(bench.replica(), create, work);
    const [made] = await bench.candidates();
    bench.clock.time += 17 * 60 * 60 * 1000;
    expect(new Date(bench.clock.time).toISOString().slice(0, 10)).not.to.equal(today);
    expect(candidateOf(await bench.replica().once(create, work))).to.deep.equal(made);
    expect((await refusalOf(bench.replica().once(newRequest(), work))).code).to.equal("invalid_transition");
    first.release();
    await first.outcome;
    expect(await bench.candidates()).to.have.length(1);
  });

  it("is not the only thing that is not kept: nor is what shows another candidate, which an erasure would not find", async () => {
    const shows = (subject: string) => async () => ({ ...(await jsonResponse(200, { id: subject })), subject });
    const send = async (subject: string) => isReplay(await bench.replica().once(request, shows(subject)));
    expect([await send("cand_other"), await send("cand_other"), await send(SUBJECT)]).to.deep.equal([
      false,
      false,
      false,
    ]);
    expect(await send(SUBJECT)).to.equal(true);
  });
});
