import { expect } from "chai";
import type { Caller } from "../../src/accounts/caller.ts";
import { GrantCounters } from "../../src/limiter/grant-counters.ts";
import type { Surface } from "../../src/limiter/surfaces.ts";
import { newCaller, raiseTo, redisNow, useLimiter } from "./support.ts";

const DAY_MS = 86_400_000;

describe("charging a key that was looked up", () => {
  const { redis, charge, chargeOne } = useLimiter();
  const given = { surface: "start", amount: 5 } as const;

  it("shows a grant with every answer, from the issue on, which raises the account's version", async () => {
    const caller = newCaller();
    await raiseTo(redis, caller.accountId, 1);
    const shown = async (accountVersion: number) => {
      const { verdict, grantRemaining } = await chargeOne({ ...caller, surface: "start", accountVersion });
      return [verdict, grantRemaining];
    };
    expect([await shown(1), await shown(1)]).to.deep.equal([
      ["admitted", null],
      ["admitted", null],
    ]);
    const expiresAtMs = (await redisNow(redis)) + DAY_MS;
    await new GrantCounters(redis).put({ ...caller, ...given, grantId: "grant_1", expiresAtMs });
    await raiseTo(redis, caller.accountId, 2);
    expect(await shown(1)).to.deep.equal(["outdated", null]);
    expect([await shown(2), await shown(2)]).to.deep.equal([
      ["admitted", 5],
      ["admitted", 5],
    ]);
  });

  it("reads the grants again for another surface and another key", async () => {
    const caller = newCaller();
    const other = newCaller(caller.accountId);
    const expiresAtMs = (await redisNow(redis)) + DAY_MS;
    await raiseTo(redis, caller.accountId, 1);
    await new GrantCounters(redis).put({ ...caller, ...given, grantId: "grant_1", expiresAtMs });
    const remaining = async (of: Caller, surface: Surface) =>
      (await chargeOne({ ...of, surface, accountVersion: 1 })).grantRemaining;
    expect([
      await remaining(caller, "pack"),
      await remaining(other, "start"),
      await remaining(caller, "start"),
    ]).to.deep.equal([null, null, 5]);
  });

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
