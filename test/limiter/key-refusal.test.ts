import { expect } from "chai";
import type { CallerClaim } from "../../src/limiter/decision.ts";
import { redisKeys } from "../../src/limiter/scripts.ts";
import { readUsage } from "../../src/limiter/usage.ts";
import { limiterOver, newCaller, raiseTo, redisNow, useLimiter } from "./support.ts";

describe("a key whose account was changed after the replica had looked it up", () => {
  const { redis, chargeOne } = useLimiter();
  const surface = "reads";

  it("is outdated before it is replaced: the record that the replica has may name another end", async () => {
    const caller = newCaller();
    await raiseTo(redis, caller.accountId, 7);
    const ended = { ...caller, surface, secretEndsAt: await redisNow(redis) } as const;
    expect((await chargeOne({ ...ended, accountVersion: 6 })).verdict).to.equal("outdated");
    expect(await chargeOne({ ...ended, accountVersion: 7 })).to.deep.include({
      verdict: "replaced",
      key: { limit: 300, remaining: 300 },
    });
  });

  it("is charged nothing, whether it is outdated or replaced", async () => {
    const caller = newCaller();
    await raiseTo(redis, caller.accountId, 7);
    await chargeOne({ ...caller, surface, accountVersion: 7 });
    const before = await redis.hgetall(redisKeys.ledger(caller.accountId));
    await chargeOne({ ...caller, surface, accountVersion: 6 });
    await chargeOne({ ...caller, surface, accountVersion: 7, secretEndsAt: await redisNow(redis) });
    expect(await redis.hgetall(redisKeys.ledger(caller.accountId))).to.deep.equal(before);
  });

  it("is checked by GET /limits only against the version and end that the replica names", async () => {
    const caller = newCaller();
    await raiseTo(redis, caller.accountId, 7);
    const options = { redis, windowSeconds: 86_400, scale: 1, timeoutMs: 5_000 };
    const refusalOf = async (claim: Partial<CallerClaim>) =>
      (await readUsage(options, { ...caller, ...claim })).refusal;
    const now = await redisNow(redis);
    expect(await refusalOf({})).to.equal(undefined);
    expect(await refusalOf({ accountVersion: 7, secretEndsAt: now + 60_000 })).to.equal(undefined);
    expect(await refusalOf({ accountVersion: 7, secretEndsAt: now })).to.equal("replaced");
    expect(await refusalOf({ accountVersion: 6, secretEndsAt: now })).to.equal("outdated");
    expect((await readUsage(options, { ...newCaller(), accountVersion: 7 })).refusal).to.equal("outdated");
  });

  it("is outdated if Redis was connected again after it was found, even while the charge waits to be sent", async () => {
    const caller = newCaller();
    const connection = { changes: 0, connections: 1 };
    const limiter = limiterOver(redis, { connection });
    await raiseTo(redis, caller.accountId, 7);
    const claim = { ...caller, surface, accountVersion: 7, connections: 1 } as const;
    expect((await limiter.charge(claim)).verdict).to.equal("admitted");
    expect((await limiter.readUsage(claim)).refusal).to.equal(undefined);
    const charged = limiter.charge(claim);
    const read = limiter.readUsage(claim); // waits for its turn, after the first one
    connection.connections++;
    expect([(await charged).verdict, (await read).refusal]).to.deep.equal(["outdated", "outdated"]);
    expect((await limiter.charge({ ...claim, connections: 2 })).verdict).to.equal("admitted");
  });
});
