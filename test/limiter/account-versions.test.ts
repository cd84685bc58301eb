import { expect } from "chai";
import { AccountVersions } from "../../src/limiter/account-versions.ts";
import { redisKeys } from "../../src/limiter/scripts.ts";
import { newCaller, raiseTo, redisNow, useLimiter } from "./support.ts";

const MINUTE_MS = 60_000;

describe("the version of an account in Redis", () => {
  const { redis, chargeOne } = useLimiter();
  const versions = new AccountVersions(redis);
  const known = (accountId: string) => redis.hget(redisKeys.ledger(accountId), "version");
  const found = async (version: number, begunMs?: number) => ({
    version,
    begunMs: begunMs ?? (await redisNow(redis)),
    timeoutMs: 5_000,
  });

  it("is only ever raised by a command: one that was overtaken changes nothing", async () => {
    const { accountId } = newCaller();
    expect(await raiseTo(redis, accountId, 9)).to.equal(9);
    expect(await raiseTo(redis, accountId, 10)).to.equal(10);
    expect(await raiseTo(redis, accountId, 9)).to.equal(10);
    expect(await raiseTo(redis, accountId, 10)).to.equal(10);
    expect(await known(accountId)).to.equal("10");
  });

  it("is only ever raised by a look-up: one that comes late changes nothing", async () => {
    const { accountId } = newCaller();
    expect(await versions.lookedUp(accountId, await found(3))).to.equal(true);
    await raiseTo(redis, accountId, 5);
    expect(await versions.lookedUp(accountId, await found(4))).to.equal(true);
    expect(await known(accountId)).to.equal("5");
  });

  it("is lowered only if it is the one that the store has lost", async () => {
    const { accountId } = newCaller();
    await raiseTo(redis, accountId, 9);
    expect(await raiseTo(redis, accountId, 4, 8)).to.equal(9);
    expect(await raiseTo(redis, accountId, 4, 9)).to.equal(4);
    expect(await known(accountId)).to.equal("4");
  });

  it("is not taken from a look-up that began five minutes ago", async () => {
    const { accountId } = newCaller();
    const now = await redisNow(redis);
    expect(await versions.lookedUp(accountId, await found(3, now - 5 * MINUTE_MS))).to.equal(false);
    expect(await known(accountId)).to.equal(null);
    expect(await versions.lookedUp(accountId, await found(3, now - 4 * MINUTE_MS))).to.equal(true);
  });

  it("is not taken from a command that read the record five minutes ago", async () => {
    const { accountId } = newCaller();
    const now = await redisNow(redis);
    const read = { version: 3, over: 0 };
    expect(await versions.raise(accountId, { ...read, begunMs: now - 5 * MINUTE_MS })).to.equal(0);
    expect(await known(accountId)).to.equal(null);
    expect(await versions.raise(accountId, { ...read, begunMs: now - 4 * MINUTE_MS })).to.equal(3);
  });

  it("is kept for a quarter of an hour at least, and longer if the ledger is", async () => {
    const { accountId } = newCaller();
    const ledger = redisKeys.ledger(accountId);
    const before = await redisNow(redis);
    await raiseTo(redis, accountId, 3);
    expect(await redis.pexpiretime(ledger)).to.be.within(
      before + 15 * MINUTE_MS,
      (await redisNow(redis)) + 15 * MINUTE_MS,
    );
    await redis.pexpire(ledger, MINUTE_MS);
    await raiseTo(redis, accountId, 3);
    expect(await redis.pttl(ledger)).to.be.above(14 * MINUTE_MS);
    await redis.pexpire(ledger, 60 * MINUTE_MS);
    await raiseTo(redis, accountId, 4);
    expect(await redis.pttl(ledger)).to.be.above(59 * MINUTE_MS);
  });

  it("makes a charge outdated that names an older one, or that finds none", async () => {
    const caller = newCaller();
    const verdictAt = async (accountVersion?: number) =>
      (await chargeOne({ ...caller, surface: "reads", ...(accountVersion !== undefined && { accountVersion }) }))
        .verdict;
    expect(await verdictAt(1)).to.equal("outdated");
    expect(await verdictAt(), "a call that checks no version").to.equal("admitted");
    expect(await verdictAt(1), "a ledger without a version").to.equal("outdated");
    await raiseTo(redis, caller.accountId, 10);
    expect([await verdictAt(9), await verdictAt(10), await verdictAt(11)]).to.deep.equal([
      "outdated",
      "admitted",
      "admitted",
    ]);
  });
});
