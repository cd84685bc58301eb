import { expect } from "chai";
import type { Decision, Verdict } from "../../src/limiter/decision.ts";
import type { Surface } from "../../src/limiter/surfaces.ts";
import { UsageCounter } from "../../src/usage/counter.ts";
import type { UsageStore } from "../../src/usage/store.ts";

type Written = Parameters<UsageStore["write"]>[0][number];

const HOUR_MS = 3_600_000;
const caller = { accountId: "acct_1", keyId: "key_1" };

/** Returns a decision at a time, in hours since the epoch, in a window of so many seconds. */
function decision(verdict: Verdict, hours = 100.5, surface: Surface = "list", windowSeconds = 3600): Decision {
  const now = hours * HOUR_MS;
  const window = Math.floor(now / (windowSeconds * 1000));
  const resetMs = (window + 1) * windowSeconds * 1000 - now;
  const quota = { limit: 1, remaining: 0 };
  return {
    verdict,
    surface,
    account: quota,
    key: quota,
    grantRemaining: null,
    grantAmount: null,
    resetMs,
    windowSeconds,
    window,
  };
}

/** Returns a counter, and a store in memory that keeps the highest number of each writer, as $max does in MongoDB. */
function counterOf(response: () => Promise<void> = async () => undefined) {
  const stored = new Map<string, Written>();
  const warnings: object[] = [];
  const write = async (batch: readonly Written[], writer: string) => {
    for (const each of batch) {
      const name = [writer, each.account, each.hour, each.key_id, each.surface].join();
      const { used = 0, refused = 0 } = stored.get(name) ?? {};
      stored.set(name, { ...each, used: Math.max(used, each.used), refused: Math.max(refused, each.refused) });
    }
    await response();
  };
  const log = { warn: (fields: object) => void warnings.push(fields) };
  const time = { hours: 100.5 };
  const clock = { now: () => time.hours * HOUR_MS };
  const accounts = { setLastUsed: async () => undefined };
  const counter = new UsageCounter({ store: { write }, accounts, log: log as never, clock, writer: "me" });
  /** Writes now, as it does once in a period. */
  const flush = () => counter.stop(60_000);
  const totals = () => {
    const sums = new Map<string, [number, number]>();
    for (const { account, hour, key_id, surface, used, refused } of stored.values()) {
      const name = [account, key_id, surface, hour].join(" ");
      const [u, r] = sums.get(name) ?? [0, 0];
      sums.set(name, [u + used, r + refused]);
    }
    return Object.fromEntries(sums);
  };
  return { counter, time, stored, warnings, flush, totals };
}

describe("the counter of usage", () => {
  it("counts what is admitted, on a grant too, and what a limit refuses, but not a refused key", async () => {
    const { counter, flush, totals } = counterOf();
    for (const verdict of ["admitted", "granted", "account_exhausted", "key_exhausted", "key_exhausted"] as const)
      counter.count(caller, decision(verdict));
    for (const verdict of ["replaced", "outdated"] as const) counter.count(caller, decision(verdict));
    counter.count({ ...caller, keyId: "key_2" }, decision("admitted", 100.5, "reads"));
    await flush();
    expect(totals()).to.deep.equal({ "acct_1 key_1 list 100": [2, 3], "acct_1 key_2 reads 100": [1, 0] });
  });

  it("counts in the hour of the decision, by the limiter's clock, whatever the length of the window", async () => {
    const { counter, flush, totals } = counterOf();
    for (const seconds of [3, 3600, 86_400])
      for (const hours of [99.9999, 100, 100.9999]) counter.count(caller, decision("admitted", hours, "list", seconds));
    await flush();
    expect(totals()).to.deep.equal({ "acct_1 key_1 list 99": [3, 0], "acct_1 key_1 list 100": [6, 0] });
  });

  it("writes only what has changed, and counts what happens during a write in the next one", async () => {
    let during = (): void => undefined;
    const { counter, flush, totals, stored } = counterOf(async () => during());
    counter.count(caller, decision("admitted"));
    during = () => {
      counter.count(caller, decision("admitted"));
      counter.count(caller, decision("admitted", 101));
    };
    await flush();
    expect(totals()).to.deep.equal({ "acct_1 key_1 list 100": [1, 0] });
    during = () => undefined;
    await flush();
    expect(totals()).to.deep.equal({ "acct_1 key_1 list 100": [2, 0], "acct_1 key_1 list 101": [1, 0] });
    stored.clear();
    await flush();
    expect(totals()).to.deep.equal({});
  });

  it("counts once what was written although the store said that it was not, and says so in the log", async () => {
    let down = true;
    const { counter, flush, totals, warnings } = counterOf(async () => {
      if (down) throw new Error("down");
    });
    for (let n = 0; n < 3; n++) {
      counter.count(caller, decision("key_exhausted"));
      await flush();
    }
    down = false;
    await flush();
    expect(totals()).to.deep.equal({ "acct_1 key_1 list 100": [0, 3] });
    expect(warnings).to.have.length(3);
  });

  it("loses nothing of thousands of keys, nor of the hours of an outage", async () => {
    let down = true;
    const { counter, time, flush, totals, warnings } = counterOf(async () => {
      if (down) throw new Error("down");
    });
    const hours = [100, 101, 102, 103];
    for (const hour of hours) {
      time.hours = hour;
      for (let n = 0; n < 1_500; n++) counter.count({ ...caller, keyId: `key_${n}` }, decision("admitted", hour));
      await flush();
    }
    down = false;
    await flush();
    expect(Object.keys(totals())).to.have.length(4 * 1_500);
    expect(warnings).to.have.length(4);
  });

  it("forgets an hour that is written an hour after it ended", async () => {
    const { counter, time, flush, stored, totals } = counterOf();
    counter.count(caller, decision("admitted", 100.9));
    for (const hours of [100.9, 101.9]) {
      time.hours = hours;
      await flush();
      counter.count(caller, decision("admitted", 100.9)); // late
      await flush();
    }
    expect(totals()).to.deep.equal({ "acct_1 key_1 list 100": [3, 0] });
    stored.clear();
    time.hours = 102;
    await flush();
    counter.count(caller, decision("admitted", 100.9));
    await flush();
    expect(totals(), "begins again").to.deep.equal({ "acct_1 key_1 list 100": [1, 0] });
  });

  it("knows the 20 accounts and surfaces that were refused most in this hour", () => {
    const { counter } = counterOf();
    for (let account = 1; account <= 30; account++)
      for (let n = 0; n < account; n++)
        counter.count({ accountId: `acct_${account}`, keyId: `key_${account}` }, decision("account_exhausted"));
    counter.count({ accountId: "acct_quiet", keyId: "key_quiet" }, decision("admitted"));
    const most = counter.mostRefused();
    expect(most.map(({ account, surface, requests }) => `${account} ${surface} ${requests}`)).to.deep.equal(
      Array.from({ length: 20 }, (_, n) => `acct_${30 - n} list ${30 - n}`),
    );
  });

  it("adds up the refusals of an account's keys, and forgets them when their hour ends", () => {
    const { counter, time } = counterOf();
    for (const keyId of ["key_1", "key_2"]) counter.count({ ...caller, keyId }, decision("account_exhausted", 100.9));
    time.hours = 100.99;
    expect(counter.mostRefused()).to.deep.equal([{ account: "acct_1", surface: "list", requests: 2 }]);
    time.hours = 101;
    expect(counter.mostRefused()).to.deep.equal([]);
  });
});
