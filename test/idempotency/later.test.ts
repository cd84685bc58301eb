import { EventEmitter, once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { jsonAnswer } from "../../src/http/answer.ts";
import type { IdempotentWork } from "../../src/idempotency/once.ts";
import { type IdempotencyRecord, IdempotencyStore } from "../../src/idempotency/store.ts";
import { problem } from "../../src/problems.ts";
import { gate, hang, HoldingStore, newRequest, refusalOf, useWorkbench } from "./workbench.ts";

const LEASE_MS = 5_000;
const MIB = 1024 * 1024;

/** Emits an event for each attempt to renew a lease, named after the new expiry. */
class WatchedStore extends HoldingStore {
  readonly renewals = new EventEmitter();
  /** Renewals wait for this. */
  free = Promise.resolve();
  override async lease(record: IdempotencyRecord, until: number): Promise<boolean> {
    await this.free;
    const isOurs = await super.lease(record, until);
    globalThis.setImmediate(() => this.renewals.emit(String(until))); // the caller knows by then
    return isOurs;
  }
}

describe("an answer that is not stored yet", () => {
  const bench = useWorkbench();
  beforeEach(() => bench.clear());

  const answerOf = (text: string) => () => jsonAnswer(201, { text });

  /** Lets the outcome be stored, and returns whether the answer was given before that. */
  async function isGivenFirst(store: HoldingStore, request: ReturnType<IdempotentWork["once"]>): Promise<boolean> {
    let given = false;
    void request.then(() => (given = true));
    await store.reached;
    await setImmediate();
    const first = given;
    store.release();
    expect((await request).replayed).to.equal(false);
    return first;
  }

  it("is given", async () => {
    const store = new HoldingStore(bench.mongo);
    expect(await isGivenFirst(store, bench.replica({ store }).once(newRequest(), bench.create()))).to.equal(true);
  });

  it("is held back once another attempt could have begun, on a replica whose clock is ahead", async () => {
    for (const [passed, given] of [
      [LEASE_MS / 2, true],
      [LEASE_MS / 2 + 1, false],
    ] as const) {
      const store = new HoldingStore(bench.mongo);
      const { outcome, release } = await hang(bench.replica({ store }), newRequest(), bench.create());
      bench.clock.time += passed;
      release();
      expect(await isGivenFirst(store, outcome), `${passed} ms after the claim`).to.equal(given);
    }
  });

  it("is held back by an attempt that took over: the outcome of the first may land late", async () => {
    const request = newRequest();
    const first = await hang(bench.replica(), request, answerOf("first"));
    bench.clock.time += LEASE_MS;
    const store = new HoldingStore(bench.mongo);
    const second = bench.replica({ store }).once(request, answerOf("second"));
    await store.reached;
    first.release();
    const { answer } = await first.outcome;
    store.release();
    expect(await second).to.deep.equal({ answer, replayed: true });
  });

  describe("of an attempt that takes long", () => {
    const leaseMs = 90;
    it("is given if its lease was renewed", async () => {
      const store = new WatchedStore(bench.mongo);
      const { outcome, release } = await hang(bench.replica({ store, leaseMs }), newRequest(), bench.create());
      bench.clock.time += leaseMs - 1;
      await once(store.renewals, String(bench.clock.time + leaseMs));
      release();
      expect(await isGivenFirst(store, outcome)).to.equal(true);
    });

    it("is replaced by that of the attempt that took over", async () => {
      const store = new WatchedStore(bench.mongo);
      const request = newRequest();
      const takenOver = gate();
      store.free = takenOver.opened;
      const { outcome, release } = await hang(bench.replica({ store, leaseMs }), request, answerOf("late"));
      bench.clock.time += leaseMs;
      const { answer } = await bench.replica().once(request, answerOf("first"));
      takenOver.open();
      await once(store.renewals, String(bench.clock.time + leaseMs));
      release();
      store.release();
      expect(await outcome).to.deep.equal({ answer, replayed: true });
    });
  });

  it("is held back while others of 8 MiB together wait for the store", async () => {
    /** Its outcomes are held by one store after the other. */
    class SwitchedStore extends IdempotencyStore {
      holding = new HoldingStore(bench.mongo);
      override finish(...outcome: Parameters<IdempotencyStore["finish"]>): Promise<boolean> {
        return this.holding.finish(...outcome);
      }
    }
    const store = new SwitchedStore(bench.mongo);
    const replica = bench.replica({ store });
    const large = "x".repeat(5 * MIB);
    await replica.once(newRequest(), answerOf(large));
    const another = replica.once(newRequest(), answerOf(large));
    const small = replica.once(newRequest(), answerOf("small"));
    expect((await small).replayed, "there is room for it").to.equal(false);
    expect(await isGivenFirst(store.holding, another)).to.equal(false);
    await bench.settled();
    const later = (store.holding = new HoldingStore(bench.mongo));
    expect(await isGivenFirst(later, replica.once(newRequest(), answerOf(large)))).to.equal(true);
  });

  it("is waited for by a retry on the same replica", async () => {
    let claims = 0;
    class ClaimedStore extends HoldingStore {
      override insert(record: IdempotencyRecord): Promise<boolean> {
        claims++;
        return super.insert(record);
      }
    }
    const store = new ClaimedStore(bench.mongo);
    const replica = bench.replica({ store });
    const request = newRequest();
    const { answer } = await replica.once(request, bench.create());
    const elsewhere = bench.replica();
    expect((await refusalOf(elsewhere.once(request, bench.create()))).code).to.equal("idempotency_in_flight");
    expect((await refusalOf(elsewhere.once(request, bench.create()))).code).to.equal("idempotency_in_flight");
    const retry = replica.once(request, bench.create());
    await setImmediate();
    const early = claims;
    store.release();
    expect(await retry).to.deep.equal({ answer, replayed: true });
    expect(early, "the retry waits before it claims the key").to.equal(1);
  });

  it("is waited for a moment by a retry on another replica", async () => {
    const store = new HoldingStore(bench.mongo);
    class LookingStore extends IdempotencyStore {
      override async find(accountId: string, id: string): Promise<IdempotencyRecord | undefined> {
        const found = await super.find(accountId, id);
        store.release();
        return found;
      }
    }
    const request = newRequest();
    const { answer } = await bench.replica({ store }).once(request, bench.create());
    const elsewhere = bench.replica({ store: new LookingStore(bench.mongo) });
    expect(await elsewhere.once(request, bench.create())).to.deep.equal({ answer, replayed: true });
  });

  it("is not waited for by a retry with another body", async () => {
    const store = new HoldingStore(bench.mongo);
    const request = newRequest();
    await bench.replica({ store }).once(request, bench.create());
    const other = bench.replica().once({ ...request, fingerprint: "another" }, bench.create());
    expect((await refusalOf(other)).code).to.equal("idempotency_key_reused");
    store.release();
  });

  it("keeps its lease until it is stored", async () => {
    const leaseMs = 90;
    const store = new WatchedStore(bench.mongo);
    await bench.replica({ store, leaseMs }).once(newRequest(), bench.create());
    for (let renewed = 0; renewed < 3; renewed++) {
      bench.clock.time += leaseMs - 1;
      await once(store.renewals, String(bench.clock.time + leaseMs));
    }
    store.release();
    await bench.settled();
    expect(await bench.mongo.db.collection("idempotency_records").countDocuments({ state: "done" })).to.equal(1);
  });

  it("is waited for when the replica stops, but not for ever", async () => {
    const store = new HoldingStore(bench.mongo);
    const replica = bench.replica({ store });
    await replica.once(newRequest(), bench.create());
    const running = () => bench.mongo.db.collection("idempotency_records").countDocuments({ state: "running" });
    await replica.settled(1);
    expect(await running()).to.equal(1);
    const stopped = replica.settled(60_000).then(running);
    store.release();
    expect(await stopped).to.equal(0);
  });

  it("was right even if it can never be stored: the log says why, unless it is the store that fails", async () => {
    const lines: unknown[] = [];
    const log = { error: (fields: object, message: string) => void lines.push({ ...fields, message }) };
    for (const failure of [problem("store_unavailable", "No answer."), new TypeError("x is not a function")]) {
      const store = new (class extends IdempotencyStore {
        override finish(): Promise<boolean> {
          return Promise.reject(failure);
        }
      })(bench.mongo);
      expect((await bench.replica({ store, log }).once(newRequest(), bench.create())).answer.status).to.equal(201);
    }
    await bench.settled();
    expect(lines).to.have.length(1);
    expect(JSON.stringify(lines)).to.include("x is not a function");
  });
});
