import { expect } from "chai";
import { readStated } from "./lib/contract.ts";
import { judge } from "./lib/judge.ts";
import type { Counts } from "./lib/tally.ts";

function counts(given: Partial<Counts>): Counts {
  return { offered: 0, admitted: 0, account: 0, key: 0, unknown: 0, ...given };
}

/** The results of the account and of each key that is judged, in order. */
function results(account: number, keys: readonly number[], seen: readonly Partial<Counts>[]): string[] {
  return judge("list", { account, keys }, seen.map(counts)).map(({ result }) => result);
}

describe("the judge of a load test", () => {
  it("demands min(offered, limit) of a key while the account has room", () => {
    expect(results(20, [10], [{ offered: 12, admitted: 10, key: 2 }])).to.deep.equal(["exact", "exact"]);
    expect(results(20, [10], [{ offered: 7, admitted: 7 }])).to.deep.equal(["exact", "exact"]);
    expect(results(20, [10], [{ offered: 12, admitted: 11, key: 1 }])).to.deep.equal(["not exact", "not exact"]);
    expect(results(20, [10], [{ offered: 12, admitted: 9, key: 3 }])).to.deep.equal(["not exact", "not exact"]);
  });

  it("demands the account's limit of the sum, however the keys share it", () => {
    const shared = (...admitted: number[]): string[] =>
      results(
        20,
        [10, 10, 10],
        admitted.map((count) => ({ offered: 12, admitted: count, account: 12 - count })),
      );
    expect(shared(10, 6, 4)).to.deep.equal(["exact"]);
    expect(shared(10, 6, 5)).to.deep.equal(["not exact"]);
    expect(shared(10, 6, 3)).to.deep.equal(["not exact"]);
    expect(shared(11, 5, 4), "a key above its own limit").to.deep.equal(["exact", "not exact"]);
  });

  it("demands the whole limit of a key that its own limit refused, also if the account refused others", () => {
    const seen = [
      { offered: 12, admitted: 9, key: 3 },
      { offered: 12, admitted: 10, account: 2 },
      { offered: 12, admitted: 1, account: 11 },
    ];
    expect(results(20, [10, 10, 10], seen)).to.deep.equal(["exact", "not exact"]);
  });

  it("does not claim exactness if a request may or may not have counted", () => {
    expect(results(20, [10], [{ offered: 12, admitted: 10, key: 2, unknown: 1 }])).to.deep.equal([
      "not proven",
      "not proven",
    ]);
    expect(results(20, [10], [{ offered: 12, admitted: 9, key: 3, unknown: 1 }])).to.deep.equal([
      "not proven",
      "not proven",
    ]);
    expect(results(20, [10], [{ offered: 12, admitted: 8, key: 4, unknown: 1 }]), "out of range").to.deep.equal([
      "not exact",
      "not exact",
    ]);
    expect(results(20, [10], [{ offered: 12, admitted: 11, key: 1, unknown: 1 }])).to.deep.equal([
      "not exact",
      "not exact",
    ]);
  });
});

describe("the headers that a load test reads", () => {
  it("state both levels and the reset, also beside a grant, or nothing", () => {
    const policy = '"account-list";q=200;w=3600, "key-list";q=100;w=3600, "grant-list";q=50';
    const limits = '"account-list";r=9;t=7, "key-list";r=8;t=7, "grant-list";r=3';
    const headers = { "ratelimit-policy": policy, ratelimit: limits };
    expect(readStated(headers)).to.deep.equal({
      surface: "list",
      windowSeconds: 3600,
      reset: 7,
      account: { limit: 200, remaining: 9 },
      key: { limit: 100, remaining: 8 },
    });
    expect(readStated({ "ratelimit-policy": policy })).to.equal(undefined);
    expect(readStated({ ...headers, ratelimit: "nonsense, key;r=1" })).to.equal(undefined);
    expect(readStated({ ...headers, ratelimit: limits.replaceAll("list", "reads") })).to.equal(undefined);
    expect(readStated({ ...headers, ratelimit: limits.replace("key-list", "key-reads") })).to.equal(undefined);
  });
});
