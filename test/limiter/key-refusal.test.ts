import { expect } from "chai";
import type { CallerClaim } from "../../src/limiter/decision.ts";
import { KeyMarkers } from "../../src/limiter/key-markers.ts";
import { readUsage } from "../../src/limiter/usage.ts";
import { newCaller, redisNow, useLimiter } from "./support.ts";

describe("a key that was changed after the replica had looked it up", () => {
  const { redis, chargeOne } = useLimiter();
  const surface = "reads";

  it("is outdated if it was rotated since, and is not if the record that the replica read has the rotation", async () => {
    const caller = newCaller();
    await new KeyMarkers(redis).markRotated(caller.accountId, caller.keyId, 7);
    const verdictAt = async (accountVersion: number) =>
      (await chargeOne({ ...caller, surface, accountVersion })).verdict;
    expect([await verdictAt(6), await verdictAt(7), await verdictAt(8)]).to.deep.equal([
      "outdated",
      "admitted",
      "admitted",
    ]);
    expect((await chargeOne({ ...caller, surface })).verdict, "a call that checks no version").to.equal("admitted");
  });

  it("is outdated before it is replaced: the record that the replica has may name another end", async () => {
    const caller = newCaller();
    await new KeyMarkers(redis).markRotated(caller.accountId, caller.keyId, 7);
    const ended = { ...caller, surface, secretEndsAt: await redisNow(redis) } as const;
    expect((await chargeOne({ ...ended, accountVersion: 6 })).verdict).to.equal("outdated");
    expect(await chargeOne({ ...ended, accountVersion: 7 })).to.deep.include({
      verdict: "replaced",
      key: { limit: 300, remaining: 300 },
    });
  });

  it("is checked by GET /limits only against the version and end that the replica names", async () => {
    const caller = newCaller();
    await new KeyMarkers(redis).markRotated(caller.accountId, caller.keyId, 7);
    const options = { redis, windowSeconds: 86_400, scale: 1, timeoutMs: 5_000 };
    const refusalOf = async (claim: Partial<CallerClaim>) =>
      (await readUsage(options, { ...caller, ...claim })).refusal;
    const now = await redisNow(redis);
    expect(await refusalOf({})).to.equal(undefined);
    expect(await refusalOf({ accountVersion: 7, secretEndsAt: now + 60_000 })).to.equal(undefined);
    expect(await refusalOf({ accountVersion: 7, secretEndsAt: now })).to.equal("replaced");
    expect(await refusalOf({ accountVersion: 6, secretEndsAt: now })).to.equal("outdated");
  });

  it("is revoked, whether or not its account is also suspended", async () => {
    const caller = newCaller();
    const markers = new KeyMarkers(redis);
    await markers.markStatus(caller.accountId, "suspended", 1);
    await markers.markRevoked(caller.accountId, caller.keyId);
    expect((await chargeOne({ ...caller, surface, accountVersion: 1 })).verdict).to.equal("revoked");
    expect((await chargeOne({ ...newCaller(caller.accountId), surface })).verdict).to.equal("suspended");
  });
});
