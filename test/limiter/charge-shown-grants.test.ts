import { expect } from "chai";
import { GrantCounters } from "../../src/limiter/grant-counters.ts";
import { newCaller, raiseTo, redisNow, useLimiter } from "./support.ts";

const DAY_MS = 86_400_000;

describe("charging a key that was looked up", () => {
  const { redis, charge, chargeOne } = useLimiter();
  const given = { surface: "start", amount: 5 } as const;

  it("does not read the grants again if there were none: one that nobody announced is not shown", async () => {
    const caller = newCaller();
    const claim = { ...caller, surface: "start", accountVersion: 1 } as const;
    await raiseTo(redis, caller.accountId, 1);
    await chargeOne(claim);
    const expiresAtMs = (await redisNow(redis)) + DAY_MS;
    await new GrantCounters(redis).put({ ...caller, ...given, grantId: "grant_1", expiresAtMs });
    expect(await chargeOne(claim)).to.include({ verdict: "admitted", grantRemaining: null, grantAmount: null });
  });

  it("shows a grant that nobody announced once a window is exhausted, and draws on it", async () => {
    const caller = newCaller();
    await raiseTo(redis, caller.accountId, 1);
    const claim = { ...caller, surface: "start", accountVersion: 1 } as const;
    await charge(10, claim);
    const expiresAtMs = (await redisNow(redis)) + DAY_MS;
    await new GrantCounters(redis).put({ ...caller, ...given, grantId: "grant_1", expiresAtMs });
    expect(await chargeOne(claim)).to.include({ verdict: "granted", grantRemaining: 4, grantAmount: 5 });
  });
});
