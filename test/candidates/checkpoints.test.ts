import { ChangedAccounts } from "../../src/candidates/changed-accounts-store.ts";
import { type Checkpoint, CheckpointStore } from "../../src/candidates/checkpoints.ts";
import { SETTLE_WITHIN_MS, Checkpoints } from "../../src/candidates/checkpoints.ts";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { problem } from "../../src/problems.ts";
import { until } from "../erasure/support.ts";
import { useDatabase } from "../support/use-service.ts";

const ROUND_MS = 5;
const SILENT_ROUNDS = 10;

describe("the marks of the processes that write to the feed", () => {
  const mongo = useDatabase();
  const dead: Checkpoint = { _id: "dead", complete_until: 500, round: 7 };
  let store: CheckpointStore;
  let started: Checkpoints[];
  beforeEach(async () => {
    store = new CheckpointStore(mongo);
    started = [];
    await mongo.db.collection("feed_marks").deleteMany({});
  });
  afterEach(() => Promise.all(started.map((each) => each.stop(0))));

  interface Options {
    open?: number;
    settled?: boolean;
    through?: CheckpointStore;
    skewMs?: number;
  }

  async function start(writer: string, options: Options = {}) {
    const warnings: string[] = [];
    const marks = new Checkpoints({
      store: options.through ?? store,
      clock: { now: () => 1_000, raise: () => undefined },
      writer,
      inFlight: {
        earliest: (now) => Math.min(now, options.open ?? now),
        settled: () => Promise.resolve(options.settled ?? true),
      },
      changed: new ChangedAccounts(mongo),
      log: { warn: (_fields, message) => void warnings.push(message) },
      skewMs: options.skewMs ?? 0,
      roundMs: ROUND_MS,
      silentRounds: SILENT_ROUNDS,
    });
    await marks.start();
    started.push(marks);
    return { marks, warnings };
  }

  const names = async () => (await store.all()).map(({ _id }) => _id).toSorted();

  it("hold readers at the earliest write that is open in any process", async () => {
    await start("one", { open: 700 });
    const { marks } = await start("two", { open: 800 });
    expect(marks.completeUntil()).to.equal(700);
  });

  it("hold them behind this process's clock by the clock skew: a process whose clock is behind may start at any time", async () => {
    const { marks } = await start("one", { skewMs: 300 });
    expect(marks.completeUntil()).to.equal(700);
  });

  it("of a dead process hold them for some rounds, and are then removed", async () => {
    await store.put(dead);
    const { marks } = await start("one");
    expect(marks.completeUntil()).to.equal(500);
    await until(() => marks.completeUntil() === 1_000);
    await until(async () => (await names()).length === 1);
    expect(await names()).to.deep.equal(["one"]);
  });

  it("of a dead process hold them for exactly that many rounds", async () => {
    let rounds = 0;
    let heldUntil = 0;
    class Counting extends CheckpointStore {
      override all(): Promise<Checkpoint[]> {
        rounds++;
        return super.all();
      }
      override remove(mark: Checkpoint): Promise<void> {
        if (mark._id === "dead") heldUntil = rounds;
        return super.remove(mark);
      }
    }
    await store.put(dead);
    await start("one", { through: new Counting(mongo) });
    await until(() => heldUntil > 0);
    expect(heldUntil, "the first round only sees the mark").to.equal(SILENT_ROUNDS + 1);
  });

  it("hold readers at the clock even if another process has taken this one for dead and removed its mark", async () => {
    class Empty extends CheckpointStore {
      override all(): Promise<Checkpoint[]> {
        return Promise.resolve([]);
      }
    }
    const { marks } = await start("one", { through: new Empty(mongo) });
    expect(marks.completeUntil()).to.equal(1_000);
  });

  it("of a process that renews them are never removed", async () => {
    await store.put(dead);
    const { marks } = await start("one");
    for (let round = dead.round + 1; round < dead.round + 4 * SILENT_ROUNDS; round++) {
      await store.put({ ...dead, round });
      await setTimeout(ROUND_MS);
    }
    expect(marks.completeUntil()).to.equal(500);
  });

  it("do not grow old while the store does not respond, and the log says that cursors stand still", async () => {
    class Stalling extends CheckpointStore {
      stalled = false;
      override all(): Promise<Checkpoint[]> {
        return this.stalled ? Promise.reject(problem("store_unavailable", "No answer.")) : super.all();
      }
    }
    await store.put(dead);
    const through = new Stalling(mongo);
    const { marks, warnings } = await start("one", { through });
    through.stalled = true;
    await until(() => warnings.length === 3); // 30 failed rounds
    expect(marks.completeUntil()).to.equal(500);
    expect(warnings[0]).to.contain("cursors stand still");
    expect(await names()).to.deep.equal(["dead", "one"]);
  });

  it("are taken back by a process that stops in order, and left by one that does not know all its writes", async () => {
    const { marks: one } = await start("one");
    const { marks: two } = await start("two", { open: 600, settled: false });
    await one.stop(SETTLE_WITHIN_MS);
    await two.stop(SETTLE_WITHIN_MS);
    expect(await store.all()).to.have.length(1);
    expect((await store.all())[0]).to.include({ _id: "two", complete_until: 600 });
  });

  it("that were renewed in the meantime are not removed", async () => {
    await store.put({ ...dead, round: 8 });
    await store.remove(dead);
    expect(await names()).to.deep.equal(["dead"]);
  });
});
