import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { Metrics } from "../../src/infra/metrics.ts";
import type { Limiter } from "../../src/limiter/limiter.ts";
import { Scrape } from "../support/metrics.ts";
import { clearOfMidnight, limiterOver, newCaller, useTestRedis, verdicts } from "./support.ts";

/** More refusals by Redis in a row than make a flood. */
const FLOOD = 20;

describe("a flood of refusals", () => {
  const redis = useTestRedis();
  let metrics: Metrics;
  let limiter: Limiter;
  let connection: { changes: number; connections: number };
  before(() => clearOfMidnight(redis));
  beforeEach(() => {
    metrics = new Metrics();
    connection = { changes: 0, connections: 0 };
    limiter = limiterOver(redis, { metrics, connection });
  });

  const counted = async (name: string, labels: Record<string, string> = {}) =>
    new Scrape(await metrics.registry.metrics()).value(name, labels) ?? 0;
  const repeated = () => counted("limiter_repeated_refusals_total");

  /** Uses up an account with two of its keys. @returns a request of a third one. */
  async function exhaustedAccount() {
    const caller = newCaller();
    for (let keys = 0; keys < 2; keys++) {
      const request = { ...newCaller(caller.accountId), surface: "start" } as const;
      await Promise.all(Array.from({ length: 10 }, () => limiter.charge(request)));
    }
    return { ...caller, surface: "start" } as const;
  }

  it("is answered without Redis but for a few, every reply is the same, and the metrics count which were", async () => {
    const request = await exhaustedAccount();
    const { resetMs: _, ...first } = await limiter.charge(request);
    for (let sent = 1; sent < 500; sent++) {
      const { resetMs: __, ...again } = await limiter.charge(request);
      expect(again).to.deep.equal(first);
    }
    const without = await counted("limiter_repeated_refusals_total", { surface: "start", scope: "account" });
    expect(without).to.be.above(400);
    expect(await counted("limiter_decisions_total", { verdict: "account_exhausted", scope: "account" })).to.equal(500);
    const admitted = 20;
    expect(await counted("limiter_decision_duration_seconds_count"), "timed").to.equal(admitted + 500 - without);
  });

  it("is answered at the end of a turn of the event loop, all requests of that turn together", async () => {
    const request = await exhaustedAccount();
    for (let sent = 0; sent < FLOOD; sent++) await limiter.charge(request);
    const before = await repeated();
    let answered = 0;
    const together = Array.from({ length: 5 }, () => limiter.charge(request).then(() => answered++));
    await new Promise((resolve) => process.nextTick(() => queueMicrotask(() => resolve(undefined))));
    expect(answered).to.equal(0);
    await setImmediate();
    expect(answered).to.equal(5);
    await Promise.all(together);
    expect((await repeated()) - before).to.equal(5);
  });

  it("is decided by Redis again once a connection was lost or made", async () => {
    const request = await exhaustedAccount();
    for (let sent = 0; sent < FLOOD; sent++) await limiter.charge(request);
    const before = await repeated();
    expect(before).to.be.above(0);
    connection.changes++;
    await limiter.charge(request);
    expect(await repeated()).to.equal(before);
  });

  it("is not repeated from replies to charges that were sent before that", async () => {
    const request = await exhaustedAccount();
    const charges = Array.from({ length: FLOOD }, () => limiter.charge(request));
    await setImmediate(); // they are sent, and no reply was read yet
    connection.changes++;
    await Promise.all(charges);
    await limiter.charge(request);
    expect(await repeated()).to.equal(0);
  });

  it("of a key leaves the account's other keys alone", async () => {
    const caller = { ...newCaller(), surface: "start" } as const;
    for (let sent = 0; sent < 10 + FLOOD; sent++) await limiter.charge(caller);
    expect(await counted("limiter_repeated_refusals_total", { surface: "start", scope: "key" })).to.be.above(0);
    const other = { ...newCaller(caller.accountId), surface: "start" } as const;
    const decisions = await Promise.all(Array.from({ length: 12 }, () => limiter.charge(other)));
    expect(verdicts(decisions)).to.deep.equal({ admitted: 10, account_exhausted: 2 });
  });
});
