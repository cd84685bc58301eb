import { EventEmitter, once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { jsonResponse } from "../../src/http/response.ts";
import { type IdempotencyRecord, IdempotencyStore } from "../../src/idempotency/store.ts";
import { gate, hang, HoldingStore, isReplay, newRequest, refusalOf, replayOf, useWorkbench } from "./workbench.ts";

const LEASE_MS = 5_000;

/** Emits an event for each attempt to renew a lease, named after the new expiry. */
class WatchedStore extends HoldingStore {
  readonly renewals = new EventEmitter();
  /** Renewals wait for this. */
  free = Promise.resolve();
  override async lease(record: IdempotencyRecord, until: number): Promise<boolean> {
    await this.free;
    const isOurs = await super.lease(record, until);
    this.renewals.emit(String(until));
    return isOurs;
  }
}

describe("an outcome that is being stored", () => {
  const bench = useWorkbench();
  beforeEach(() => bench.clear());

  const responseOf = (text: string) => () => jsonResponse(201, { text });

  it("is the response only once it is stored", async () => {
    const store = new HoldingStore(bench.mongo);
    let given = false;
    const response = bench.replica({ store }).once(newRequest(), bench.create());
    void response.then(() => (given = true));
    await store.reached;
    await setTimeout(20);
    expect(given).to.equal(false);
    store.release();
    expect(isReplay(await response)).to.equal(false);
    expect(await bench.mongo.db.collection("idempotency_records").countDocuments({ state: "done" })).to.equal(1);
  });

  it("is in flight for a retry on any replica, and the key is taken for another body", async () => {
    const store = new HoldingStore(bench.mongo);
    const here = bench.replica({ store });
    const request = newRequest();
    const response = here.once(request, bench.create());
    await store.reached;
    for (const replica of [here, bench.replica()]) {
      expect((await refusalOf(replica.once(request, bench.create()))).code).to.equal("idempotency_in_flight");
      const other = replica.once({ ...request, fingerprint: "another" }, bench.create());
      expect((await refusalOf(other)).code).to.equal("idempotency_key_reused");
    }
    store.release();
    const first = await response;
    expect(await bench.replica().once(request, bench.create())).to.deep.equal(replayOf(first));
  });

  it("gives way to that of the attempt from which the key was taken over, if that one lands first", async () => {
    const request = newRequest();
    const first = await hang(bench.replica(), request, responseOf("first"));
    bench.clock.time += LEASE_MS;
    const store = new HoldingStore(bench.mongo);
    const second = bench.replica({ store }).once(request, responseOf("second"));
    await store.reached;
    first.release();
    const response = await first.outcome;
    store.release();
    expect(await second).to.deep.equal(replayOf(response));
  });

  it("gives way to that of the attempt that took the key over, if that one lands first", async () => {
    const leaseMs = 90;
    const store = new WatchedStore(bench.mongo);
    const request = newRequest();
    const takenOver = gate();
    store.free = takenOver.opened;
    const { outcome, release } = await hang(bench.replica({ store, leaseMs }), request, responseOf("late"));
    bench.clock.time += leaseMs;
    const response = await bench.replica().once(request, responseOf("first"));
    takenOver.open();
    await once(store.renewals, String(bench.clock.time + leaseMs));
    release();
    store.release();
    expect(await outcome).to.deep.equal(replayOf(response));
  });

  it("keeps its lease until it is stored", async () => {
    const leaseMs = 90;
    const store = new WatchedStore(bench.mongo);
    const response = bench.replica({ store, leaseMs }).once(newRequest(), bench.create());
    await store.reached;
    for (let renewed = 0; renewed < 3; renewed++) {
      bench.clock.time += leaseMs - 1;
      await once(store.renewals, String(bench.clock.time + leaseMs));
    }
    store.release();
    await response;
  });

  it("is no response if it cannot be stored for any other reason: a retry does the work at once", async () => {
    const failure = new TypeError("x is not a function");
    const store = new (class extends IdempotencyStore {
      override finish(): Promise<boolean> {
        return Promise.reject(failure);
      }
    })(bench.mongo);
    const request = newRequest();
    const failed = bench.replica({ store }).once(request, bench.create());
    expect(await failed.catch((error: unknown) => error)).to.equal(failure);
    expect(isReplay(await bench.replica().once(request, bench.create()))).to.equal(false);
    expect(await bench.candidates()).to.have.length(1);
  });
});
