import { expect } from "chai";
import type { Surface } from "../../../src/limiter/surfaces.ts";
import type { Limits } from "../../../src/limits/schema.ts";
import { barsOf, costOf, newsOf, type Reading } from "../../../src/site/browser/console/limits.ts";

interface Told {
  key?: string;
  account?: number;
  own?: number;
  at?: number;
  resetAt?: string;
  grants?: number[];
}

/** A reading of `create` alone: 20 requests for the account, 10 for the key. */
function reading({ key = "key_1", account = 0, own = 0, at = 0, resetAt = "T1", grants = [] }: Told): Reading {
  const surface: Surface = "create";
  const limits: Limits = {
    object: "limits",
    account_id: "acct_1",
    key_id: key,
    window_seconds: 3600,
    surfaces: [
      {
        surface,
        account: { limit: 20, used: account, remaining: 20 - account },
        key: { limit: 10, used: own, remaining: 10 - own },
        reset: 60,
        reset_at: resetAt,
      },
    ],
    grants: grants.map((remaining, index) => ({
      object: "grant",
      id: `grant_${index}`,
      surface,
      amount: 100,
      remaining,
      expires_at: "2027-01-01T00:00:00.000Z",
    })),
  };
  return { limits, at };
}

describe("the console's bars", () => {
  it("name each key's share of the account's window, and what keys spent that are not in the tab", () => {
    const [bars] = barsOf(
      [reading({ account: 17, own: 4 }), reading({ key: "key_2", account: 17, own: 10, at: 1 })],
      1,
    );
    expect(bars?.account.shares.map(({ who, used }) => [who, used])).to.deep.equal([
      ["this key", 4],
      ["key_2", 10],
      ["other keys", 3],
    ]);
    expect(bars?.keys.map(({ level }) => level)).to.deep.equal(["calm", "spent"]);
  });

  it("leave out what a key spent in an earlier window", () => {
    const readings = [
      reading({ account: 2, own: 2, at: 100, resetAt: "T2" }),
      reading({ key: "key_2", own: 9, at: 50 }),
    ];
    const [bars] = barsOf(readings, 100);
    expect(bars?.account.shares.map(({ used }) => used)).to.deep.equal([2]);
    expect(bars?.keys).to.have.length(1);
  });

  it("count down by the page's clock, and stop at 0", () => {
    const all = [reading({ at: 1000 })];
    expect([1000, 41_000, 99_000].map((now) => barsOf(all, now)[0]?.resetMs)).to.deep.equal([60_000, 20_000, 0]);
  });

  it("announce a window that is spent and one that restarts, and nothing in between", () => {
    const [calm, less, spent] = [3, 9, 10].map((own) => barsOf([reading({ account: own, own })], 0));
    expect(newsOf(calm ?? [], less ?? [])).to.equal("");
    expect(newsOf(less ?? [], spent ?? [])).to.equal("This key: no create requests are left.");
    expect(newsOf(spent ?? [], spent ?? [])).to.equal("");
    expect(newsOf(spent ?? [], calm ?? [])).to.equal("This key: 7 create requests are left again.");
  });
});

describe("the console's costs", () => {
  const said = (told: Told) => costOf(reading(told), "create")?.text;

  it("come from the window that has less, then from the grants, then from nothing", () => {
    expect(said({ account: 17, own: 2 })).to.equal("Costs 1 create request. 3 left.");
    expect(said({ account: 10, own: 10, grants: [0, 1200] })).to.equal(
      "Costs 1 create request from your grant. 1,200 left.",
    );
    expect(said({ account: 10, own: 10 })).to.equal("This key has no create requests left.");
    expect(said({ account: 20, own: 10 })).to.equal("The account has no create requests left.");
  });
});
