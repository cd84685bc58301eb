import { mock } from "node:test";
import { expect } from "chai";
import { OutageDetector } from "../../src/limiter/observer.ts";

describe("OutageDetector", () => {
  let now = 0;
  let detector: OutageDetector;
  beforeEach(() => {
    mock.method(performance, "now", () => now);
    now = 1_000_000;
    detector = new OutageDetector();
  });
  afterEach(() => mock.restoreAll());

  const failsAt = (...times: number[]) =>
    times.map((at) => {
      now = 1_000_000 + at;
      return detector.failed();
    });

  it("needs three failures in a row, over at least a second", () => {
    expect(failsAt(0, 1_000, 1_001)).to.deep.equal([false, false, true]);
  });

  it("does not count many failures within a second", () => {
    expect(failsAt(0, 1, 2, 3, 999, 1_000)).to.deep.equal([false, false, false, false, false, true]);
  });

  it("begins anew after a decision", () => {
    failsAt(0, 1_000);
    detector.succeeded();
    expect(failsAt(1_001, 1_002, 2_000, 2_001)).to.deep.equal([false, false, false, true]);
  });

  it("begins anew after a minute without a failure: two faults far apart are no outage", () => {
    expect(failsAt(0, 500, 60_501, 60_502)).to.deep.equal([false, false, false, false]);
    expect(failsAt(120_502)).to.deep.equal([true]);
  });
});
