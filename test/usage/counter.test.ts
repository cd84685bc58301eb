import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import type { Decision, Verdict } from "../../src/limiter/decision.ts";
import type { Surface } from "../../src/limiter/surfaces.ts";
import { UsageCounter } from "../../src/usage/counter.ts";
import type { UsageStore } from "../../src/usage/store.ts";

type Written = Parameters<UsageStore["write"]>[0][number];

const HOUR_MS = 3_600_000;
/** Counts that fit into the memory. */
const MAX = 100;
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
  const write = async (batch: readonly Written[]) => {
    for (const each of batch) {
      const name = [each.writer, each.account, each.hour, each.keyId, each.surface].join();
      const { used = 0, refused = 0 } = stored.get(name) ?? {};
      stored.set(name, { ...each, used: Math.max(used, each.used), refused: Math.max(refused, each.refused) });
    }
    await response();
  };
  const log = { warn: (fields: object) => void warnings.push(fields) };
  const counter = new UsageCounter({ store: { write }, log: log as never, writer: "me", maxCounts: MAX });
  /** Writes now, as it does once in a period. */
  const flush = () => counter.stop(60_000);
  const totals = () => {
    const sums = new Map<string, [number, number]>();
    for (const { account, hour, keyId, surface, used, refused } of stored.values()) {
      const name = [account, keyId, surface, hour].join(" ");
      const [u, r] = sums.get(name) ?? [0, 0];
      sums.set(name, [u + used, r + refused]);
    }
    return Object.fromEntries(sums);
  };
  return { counter, stored, warnings, flush, totals };
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

  it("loses nothing of more keys than fit if they are written in between", async () => {
    const { counter, flush, totals, warnings } = counterOf();
    for (let n = 0; n < 1.5 * MAX; n++) {
      counter.count({ ...caller, keyId: `key_${n}` }, decision("admitted"));
      if (n % 50 === 49) await flush();
    }
    counter.count({ ...caller, keyId: "key_7" }, decision("admitted"));
    await flush();
    expect(warnings).to.deep.equal([]);
    expect(Object.keys(totals())).to.have.length(1.5 * MAX);
    expect(totals()["acct_1 key_7 list 100"]).to.deep.equal([2, 0]);
  });

  it("remembers so many while the store is down, and says in the log how many requests it lost", async () => {
    let down = true;
    const { counter, flush, totals, warnings } = counterOf(async () => {
      if (down) throw new Error("down");
    });
    for (let n = 0; n < MAX + 10; n++) counter.count({ ...caller, keyId: `key_${n}` }, decision("admitted"));
    counter.count({ ...caller, keyId: "key_7" }, decision("admitted"));
    await flush();
    expect(warnings[1]).to.deep.equal({ requests: 10 });
    down = false;
    await flush();
    expect(warnings).to.have.length(2);
    expect(Object.keys(totals())).to.have.length(MAX);
    expect(totals()["acct_1 key_7 list 100"]).to.deep.equal([2, 0]);
  });

  it("knows the 20 accounts and surfaces that were refused most in this window", () => {
    const { counter } = counterOf();
    for (let account = 1; account <= 30; account++)
      for (let n = 0; n < account; n++)
        counter.count({ ...caller, accountId: `acct_${account}` }, decision("account_exhausted"));
    counter.count({ ...caller, accountId: "acct_quiet" }, decision("admitted"));
    const most = counter.mostRefused();
    expect(most.map(({ account, surface, requests }) => `${account} ${surface} ${requests}`)).to.deep.equal(
      Array.from({ length: 20 }, (_, n) => `acct_${30 - n} list ${30 - n}`),
    );
  });

  it("forgets refusals when their window ends", async () => {
    const { counter } = counterOf();
    const msToEnd = 20;
    counter.count(caller, decision("account_exhausted", 101 - msToEnd / HOUR_MS));
    expect(counter.mostRefused()).to.have.length(1);
    await wait(2 * msToEnd);
    expect(counter.mostRefused()).to.deep.equal([]);
  });
});
