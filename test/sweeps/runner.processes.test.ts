import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { Metrics } from "../../src/infra/metrics.ts";
import { connectMongo, type Mongo } from "../../src/infra/mongo.ts";
import { LeaseStore } from "../../src/sweeps/lease-store.ts";
import { SweepRunner, type SweepRunnerOptions } from "../../src/sweeps/runner.ts";
import type { Sweep } from "../../src/sweeps/sweep.ts";
import { testConfig } from "../support/service.ts";

const LEASE_MS = 900;
const wallClock = { now: () => Date.now() };

describe("SweepRunner", () => {
  let mongo: Mongo;
  let url: string;
  const runners: SweepRunner[] = [];
  const children: ChildProcess[] = [];
  beforeEach(async () => {
    url = testConfig().MONGODB_URL ?? "";
    mongo = await connectMongo({ url, timeoutMs: 5_000 });
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
    await Promise.all(runners.splice(0).map((runner) => runner.stop()));
    await mongo.db.dropDatabase();
    await mongo.close();
  });

  const leasesOf = (holder: string, clock = wallClock) => new LeaseStore({ mongo, clock, holder, skewMs: 0 });
  const leaseNow = () =>
    mongo.db
      .collection<{ _id: string; term: number; holder: string; until: number }>("leases")
      .findOne({ _id: "sweeps" });

  type Fields = { ms?: number; err?: Error };

  interface Entry {
    msg: string;
    sweep: string;
    term: number;
    count?: number;
  }

  /** Starts a runner and collects its log. The runner stops at the end of the test. */
  function start(
    holder: string,
    sweeps: Sweep[],
    options: Partial<SweepRunnerOptions> = {},
  ): { runner: SweepRunner; log: Entry[] } {
    const log: Entry[] = [];
    const write = (fields: object, msg: string) => void log.push({ ...fields, msg } as Entry);
    const runner = new SweepRunner({
      name: "sweeps",
      sweeps,
      leases: leasesOf(holder),
      log: { debug: write, info: write, warn: write } as SweepRunnerOptions["log"],
      metrics: new Metrics(),
      restore: new AbortController(),
      leaseMs: LEASE_MS,
      restMs: 0,
      ...options,
    });
    runners.push(runner);
    runner.start();
    return { runner, log };
  }

  /** Returns a sweep, and `next`, which resolves with the signal of the next pass once that pass begins. */
  function watched(work: (signal: AbortSignal) => Promise<number> = () => Promise.resolve(0)) {
    let onPass: (signal: AbortSignal) => void = () => undefined;
    const sweep: Sweep = {
      name: "watched",
      run: (signal) => {
        onPass(signal);
        return work(signal);
      },
    };
    return { sweep, next: () => new Promise<AbortSignal>((resolve) => (onPass = resolve)) };
  }
  const untilAborted = (signal: AbortSignal) => once(signal, "abort").then(() => 1);

  it("lets one replica work at a time, even if a pass takes longer than the lease", async () => {
    const history: { holder: string; term: number; ended: boolean }[] = [];
    const overlaps: unknown[] = [];
    let enough: () => void = () => undefined;
    const done = new Promise<void>((resolve) => (enough = resolve));
    const sweepOf = (holder: string): Sweep => ({
      name: "recorded",
      async run() {
        overlaps.push(...history.filter(({ ended }) => !ended));
        const lease = await leaseNow();
        const pass = { holder: lease?.holder ?? "", term: lease?.term ?? 0, ended: false };
        expect(pass.holder).to.equal(holder);
        history.push(pass);
        await wait(history.length === 2 ? 2.5 * LEASE_MS : 20);
        pass.ended = true;
        if (history.length === 8) enough();
        return 1;
      },
    });
    const logs = ["a", "b", "c"].map((holder) => start(holder, [sweepOf(holder)]).log);
    await done;
    await Promise.all(runners.map((runner) => runner.stop()));
    expect(overlaps).to.deep.equal([]);
    const terms = history.map(({ term }) => term);
    expect(terms, "one pass a term").to.deep.equal(terms.map((_, index) => index + 1));
    expect(new Set(history.map(({ holder }) => holder)).size, "any of them can").to.be.greaterThan(1);
    const swept = logs.flat();
    expect(swept.filter(({ msg }) => msg !== "swept")).to.deep.equal([]);
    expect(swept.map(({ term }) => term).toSorted((a, b) => a - b)).to.deep.equal(terms);
  });

  it("takes over from a replica killed in the middle of a pass when its lease expires, not before", async () => {
    const holder = fork(new URL("holder.ts", import.meta.url), [url, String(LEASE_MS)], {
      execArgv: ["--import", "tsx"],
    });
    children.push(holder);
    await once(holder, "message");
    const { sweep, next } = watched();
    const taken = next().then(() => Date.now());
    start("heir", [sweep]);
    await wait(2 * LEASE_MS); // the holder is alive and keeps extending its lease
    expect(await leaseNow()).to.include({ holder: "doomed", term: 1 });
    const gone = once(holder, "exit");
    holder.kill("SIGKILL");
    await gone;
    const until = (await leaseNow())?.until ?? 0;
    // A waiting replica polls every 1/6 to 1/2 of the lease time. The other 2 s allow for a busy machine.
    expect(await taken).to.be.within(until, until + LEASE_MS / 2 + 2_000);
    expect((await leaseNow())?.term).to.equal(2);
  });

  it("aborts the running pass when a restore begins, and runs none until it ends", async () => {
    const closing = new AbortController();
    const restore = { signal: closing.signal };
    const { sweep, next } = watched((signal) => (signal.aborted ? Promise.resolve(0) : untilAborted(signal)));
    const begun = next();
    start("restoring", [sweep], { restore });
    closing.abort(await begun);
    expect((await begun).aborted).to.equal(true);
    const passed = next();
    expect(await Promise.race([passed, wait(2 * LEASE_MS)]), "it would take the lease").to.equal(undefined);
    restore.signal = new AbortController().signal;
    await passed;
  });

  it("aborts the running pass when its lease is taken over", async () => {
    const { sweep, next } = watched(untilAborted);
    const begun = next();
    const { log } = start("slow", [sweep, { name: "later", run: () => Promise.resolve(0) }]);
    const signal = await begun;
    const usurper = leasesOf("usurper", { now: () => Date.now() + 3_600_000 });
    expect(await usurper.take("sweeps", 3_600_000)).to.deep.equal({ name: "sweeps", term: 2 });
    await once(signal, "abort");
    await runners[0]?.stop();
    expect(
      log.map(({ sweep }) => sweep),
      "nothing else begins",
    ).to.deep.equal(["watched"]);
    expect(await leaseNow()).to.include({ holder: "usurper", term: 2 });
  });

  it("aborts the running pass before its lease expires if it cannot be extended", async () => {
    const { sweep, next } = watched(untilAborted);
    const begun = next();
    const leases = leasesOf("cut off");
    leases.extend = () => Promise.reject(new Error("MongoDB does not answer"));
    start("cut off", [sweep], { leases });
    const signal = await begun;
    const { until = 0 } = (await leaseNow()) ?? {};
    await once(signal, "abort");
    expect(Date.now()).to.be.below(until);
  });

  it("aborts the running pass and releases the lease when it stops", async () => {
    const { sweep, next } = watched(untilAborted);
    const begun = next();
    const { runner, log } = start("leaving", [sweep], { restMs: 3_600_000 });
    await begun;
    await runner.stop();
    expect(log).to.have.length(1);
    expect(await leasesOf("next").take("sweeps", 1)).to.deep.equal({ name: "sweeps", term: 2 });
  });

  it("waits at most stopWithinMs for a sweep that ignores the abort", async () => {
    let release: (count: number) => void = () => undefined;
    const { sweep, next } = watched(() => new Promise((resolve) => (release = resolve)));
    const begun = next();
    const { runner } = start("stubborn", [sweep], { stopWithinMs: 50 });
    await begun;
    await runner.stop();
    release(0);
  });

  it("rests between two passes, even if another replica does the next one", async () => {
    const hour = 3_600_000;
    const leases = leasesOf("a");
    const extend = leases.extend.bind(leases);
    const extended = new Promise<void>((resolve) => {
      leases.extend = (lease, forMs) => extend(lease, forMs).finally(resolve);
    });
    const { runner } = start("a", [watched().sweep], { leases, restMs: hour });
    await extended;
    await runner.stop();
    expect(await leasesOf("b", { now: () => Date.now() + hour - 60_000 }).take("sweeps", 1)).to.equal(undefined);
    expect(await leasesOf("b", { now: () => Date.now() + hour }).take("sweeps", 1)).to.deep.equal({
      name: "sweeps",
      term: 2,
    });
  });

  it("counts what it did, and logs above debug only a pass that did something", async () => {
    const items = [0, 2];
    const { sweep, next } = watched(() => Promise.resolve(items.shift() ?? 0));
    const broken: Sweep = { name: "broken", run: () => Promise.reject(new Error("no")) };
    const metrics = new Metrics();
    const log: [string, Fields, string][] = [];
    const at = (level: string) => (fields: object, msg: string) => void log.push([level, fields, msg]);
    const levels = { debug: at("debug"), info: at("info"), warn: at("warn") } as SweepRunnerOptions["log"];
    const first = next();
    const began = Date.now() / 1000;
    const { runner } = start("a", [broken, sweep], { metrics, log: levels });
    await first;
    await next();
    await runner.stop();
    const known = log.map(([level, { ms: _ms, err: _err, ...fields }, msg]) => [level, fields, msg]);
    expect(known).to.deep.equal([
      ["warn", { sweep: "broken", term: 1 }, "sweep failed"],
      ["debug", { sweep: "watched", term: 1, count: 0 }, "swept"],
      ["warn", { sweep: "broken", term: 2 }, "sweep failed"],
      ["info", { sweep: "watched", term: 2, count: 2 }, "swept"],
    ]);
    expect(
      (await metrics.sweepRuns.get()).values.map(({ labels, value }) => ({ ...labels, value })),
    ).to.have.deep.members([
      { sweep: "broken", outcome: "ok", value: 0 },
      { sweep: "broken", outcome: "failed", value: 2 },
      { sweep: "watched", outcome: "ok", value: 2 },
      { sweep: "watched", outcome: "failed", value: 0 },
    ]);
    const handled = (await metrics.sweepItems.get()).values;
    expect(handled.map(({ labels, value }) => [labels.sweep, value])).to.deep.equal([["watched", 2]]);
    const [success] = (await metrics.sweepSuccess.get()).values;
    expect(success?.labels).to.deep.equal({ sweep: "watched" });
    expect(success?.value).to.be.within(began, Date.now() / 1000);
  });
});
