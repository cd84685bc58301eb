import { EventEmitter, once } from "node:events";
import { expect } from "chai";
import type { CandidateInput } from "../../src/candidates/input-schema.ts";
import type { IdempotentRequest } from "../../src/idempotency/idempotency.ts";
import type { NewId } from "../../src/infra/ids.ts";
import type { Idempotency } from "../../src/idempotency/idempotency.ts";
import { type IdempotencyRecord, IdempotencyStore } from "../../src/idempotency/store.ts";
import { candidateOf, gate, hang, isReplay, newRequest, refusalOf, replayOf, useWorkbench } from "./workbench.ts";

const LEASE_MS = 5_000;

describe("an attempt that stops renewing its lease", () => {
  const bench = useWorkbench();
  let here: Idempotency;
  let there: Idempotency;
  let request: IdempotentRequest;
  before(() => {
    here = bench.replica();
    there = bench.replica();
  });
  beforeEach(async () => {
    request = newRequest();
    await bench.clear();
  });

  const GIVEN: CandidateInput = {
    external_id: "ats-1",
    documents: ["CV", { name: "Passport", content: { data: "Ynl0ZXM=" } }],
    references: [{ name: "Ann" }, {}],
  };
  const files = () => bench.mongo.db.collection("content.files").find({}).toArray();
  const referenceEntries = async () =>
    (await bench.mongo.db.collection("reference_index").find({}).toArray()).map(({ candidate }) => String(candidate));

  it("refuses retries until its lease expires, with a Retry-After", async () => {
    const { outcome, release } = await hang(here, request, bench.create());
    bench.clock.time += LEASE_MS - 1;
    const { code, message, extras } = await refusalOf(there.once(request, bench.create()));
    expect(code).to.equal("idempotency_in_flight");
    expect(message).to.equal(
      "The first request with this Idempotency-Key is still in progress. Send the request again in a second.",
    );
    expect(extras.headers).to.deep.equal({ "Retry-After": "1" });
    release();
    await outcome;
    expect(await bench.candidates()).to.have.length(1);
  });

  it("is taken over if its lease ends later than any can: the clock was ahead when it was renewed", async () => {
    const first = await hang(here, request, bench.create());
    bench.clock.time -= 300_000;
    expect(isReplay(await there.once(request, bench.create()))).to.equal(false);
    first.release();
    await first.outcome;
    expect(await bench.candidates()).to.have.length(1);
  });

  it("refuses another request with its key even after its lease has expired", async () => {
    const { outcome, release } = await hang(here, request, bench.create());
    const other = () => there.once({ ...request, fingerprint: "another body" }, bench.create());
    expect((await refusalOf(other())).code).to.equal("idempotency_key_reused");
    bench.clock.time += LEASE_MS;
    expect((await refusalOf(other())).code).to.equal("idempotency_key_reused");
    release();
    await outcome;
    expect(await bench.candidates()).to.have.length(1);
  });

  it("is taken over once its lease has expired, and the retry finds everything it had created", async () => {
    const first = await hang(here, request, bench.create(GIVEN));
    const [made] = await bench.candidates();
    bench.clock.time += LEASE_MS;
    const second = await there.once(request, bench.create(GIVEN));
    expect(isReplay(second)).to.equal(false);
    expect(candidateOf(second)).to.deep.equal(made);
    expect(await bench.candidates()).to.deep.equal([made]);
    first.release();
    await first.outcome;
  });

  it("does no harm when it resumes after all: both attempts give the same response", async () => {
    const first = await hang(here, request, bench.create(GIVEN));
    bench.clock.time += LEASE_MS;
    const second = await there.once(request, bench.create({ ...GIVEN, name: "so that the responses would differ" }));
    first.release();
    const late = await first.outcome;
    expect(late).to.deep.equal(replayOf(second));
    expect(await there.once(request, bench.create(GIVEN))).to.deep.equal(replayOf(second));
  });

  it("does no harm when it runs concurrently with the retry that took over", async () => {
    const before = await files();
    const start = gate();
    const work = (begun: () => void) => async (newId: NewId) => {
      begun();
      await start.opened;
      return bench.create({ ...GIVEN, external_id: null })(newId); // only its id shows that it already exists
    };
    const [begun, begunToo] = [gate(), gate()];
    const first = here.once(request, work(begun.open));
    await begun.opened;
    bench.clock.time += LEASE_MS;
    const second = there.once(request, work(begunToo.open));
    await begunToo.opened;
    start.open();
    const [one, two] = await Promise.all([first, second]);
    expect(replayOf(one)).to.deep.equal(replayOf(two));
    const [candidate, ...more] = await bench.candidates();
    expect(more).to.deep.equal([]);
    expect((await referenceEntries()).filter((id) => id === candidate?.id)).to.have.length(2);
    expect(await files(), "bytes that came twice are kept once").to.have.length(before.length + 1);
  });

  it("is taken over by exactly one of many retries", async () => {
    const first = await hang(here, request, bench.create());
    bench.clock.time += LEASE_MS;
    const end = gate();
    let working = 0;
    let refused = 0;
    const work = async (newId: NewId) => {
      working++;
      await end.opened; // until all other retries have been refused
      return bench.create()(newId);
    };
    const retries = Array.from({ length: 10 }, async () => {
      const retry = there.once(request, work);
      return retry.then(
        () => "done",
        (error: { code: string }) => {
          if (++refused === 9) end.open();
          return error.code;
        },
      );
    });
    expect((await Promise.all(retries)).toSorted()).to.deep.equal([
      "done",
      ...Array.from({ length: 9 }, () => "idempotency_in_flight"),
    ]);
    expect(working).to.equal(1);
    first.release();
    await first.outcome;
    expect(await bench.candidates()).to.have.length(1);
  });
});

describe("an attempt that takes long", () => {
  const SHORT_LEASE_MS = 90;
  const bench = useWorkbench();

  /** Emits an event for each renewal of a lease, named after the new expiry. */
  class WatchedStore extends IdempotencyStore {
    readonly renewals = new EventEmitter();
    override async lease(record: IdempotencyRecord, until: number): Promise<boolean> {
      const isOurs = await super.lease(record, until);
      this.renewals.emit(String(until));
      return isOurs;
    }
  }

  it("renews its lease for as long as it works", async () => {
    const store = new WatchedStore(bench.mongo);
    const request = newRequest();
    const { outcome, release } = await hang(bench.replica({ store, leaseMs: SHORT_LEASE_MS }), request, bench.create());
    for (let renewed = 0; renewed < 3; renewed++) {
      bench.clock.time += SHORT_LEASE_MS - 1;
      await once(store.renewals, String(bench.clock.time + SHORT_LEASE_MS));
      expect((await refusalOf(bench.replica().once(request, bench.create()))).code).to.equal("idempotency_in_flight");
    }
    release();
    await outcome;
    expect(await bench.candidates()).to.have.length(1);
  });
});

describe("the claim of a key", () => {
  const bench = useWorkbench();

  it("reads a finished record once, and does not wait until its lease ends", async () => {
    class CountingStore extends IdempotencyStore {
      finds = 0;
      override find(...of: Parameters<IdempotencyStore["find"]>) {
        this.finds++;
        return super.find(...of);
      }
    }
    const request = newRequest();
    await bench.replica().once(request, bench.create());
    const store = new CountingStore(bench.mongo);
    expect(isReplay(await bench.replica({ store }).once(request, bench.create()))).to.equal(true);
    expect(store.finds).to.equal(1);
  });

  it("is given up after three tries if the key is freed each time before its record is read", async () => {
    let inserts = 0;
    class FreedStore extends IdempotencyStore {
      override async insert(): Promise<boolean> {
        if (++inserts > 3) throw new Error("a fourth try");
        return false;
      }
    }
    const work = bench.replica({ store: new FreedStore(bench.mongo) }).once(newRequest(), bench.create());
    expect((await refusalOf(work)).code).to.equal("idempotency_in_flight");
    expect(inserts).to.equal(3);
  });
});
