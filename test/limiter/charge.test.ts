import { expect } from "chai";
import { newTypeId } from "../../src/infra/ids.ts";
import { ledgerFields, redisKeys } from "../../src/limiter/scripts.ts";
import { PER_KEY, SURFACES } from "../../src/limiter/surfaces.ts";
import { newCaller, raiseTo, useLimiter, verdicts } from "./support.ts";

const DAY_MS = 86_400_000;

describe("charging a request", () => {
  const { redis, charge, last, chargeOne } = useLimiter();

  it("admits exactly as many requests of a key as its limit", async () => {
    const decisions = await charge(15, { ...newCaller(), surface: "start" });
    expect(verdicts(decisions)).to.deep.equal({ admitted: 10, key_exhausted: 5 });
    expect(decisions.at(-1)).to.deep.include({
      account: { limit: 20, remaining: 10 },
      key: { limit: 10, remaining: 0 },
    });
  });

  it("counts all keys of an account in the account's window", async () => {
    const [first, second, third] = [newCaller()].flatMap((one) => [
      one,
      newCaller(one.accountId),
      newCaller(one.accountId),
    ]);
    expect(verdicts(await charge(10, { ...first!, surface: "pack" }))).to.deep.equal({ admitted: 10 });
    expect(verdicts(await charge(7, { ...second!, surface: "pack" }))).to.deep.equal({ admitted: 7 });
    expect(verdicts(await charge(7, { ...third!, surface: "pack" }))).to.deep.equal({
      admitted: 3,
      account_exhausted: 4,
    });
  });

  it("leaves the ledger as it was when it refuses", async () => {
    const caller = newCaller();
    await charge(10, { ...caller, surface: "start" });
    const stored = () => redis.hgetall(redisKeys.ledger(caller.accountId));
    const before = await stored();
    expect(verdicts(await charge(5, { ...caller, surface: "start" }))).to.deep.equal({ key_exhausted: 5 });
    expect(await stored()).to.deep.equal(before);
  });

  it("reports the account's window if both windows are exhausted", async () => {
    const caller = newCaller();
    const other = newCaller(caller.accountId);
    await charge(10, { ...caller, surface: "start" });
    await charge(10, { ...other, surface: "start" });
    expect(await last(1, { ...caller, surface: "start" })).to.deep.include({
      verdict: "account_exhausted",
      account: { limit: 20, remaining: 0 },
      key: { limit: 10, remaining: 0 },
    });
  });

  it("counts each surface separately", async () => {
    const caller = newCaller();
    const other = newCaller(caller.accountId);
    for (const each of [caller, other]) await charge(10, { ...each, surface: "start" });
    expect((await chargeOne({ ...caller, surface: "start" })).verdict).to.equal("account_exhausted");
    expect(await chargeOne({ ...caller, surface: "pack" })).to.deep.include({
      verdict: "admitted",
      account: { limit: 20, remaining: 19 },
      key: { limit: 10, remaining: 9 },
    });
  });

  it("refuses a cost that does not fit, and admits a smaller one after it", async () => {
    const caller = newCaller();
    expect(await last(1, { ...caller, surface: "start", cost: 8 })).to.deep.include({
      verdict: "admitted",
      key: { limit: 10, remaining: 2 },
    });
    expect(await last(1, { ...caller, surface: "start", cost: 3 })).to.deep.include({
      verdict: "key_exhausted",
      key: { limit: 10, remaining: 2 },
    });
    expect(await last(1, { ...caller, surface: "start", cost: 2 })).to.deep.include({
      verdict: "admitted",
      key: { limit: 10, remaining: 0 },
    });
  });

  it("fails for a cost below 1 or none, which would give requests back, and charges nothing", async () => {
    const caller = newCaller();
    for (const cost of [0, -1, 0.5, -Infinity, NaN]) {
      const failure = await chargeOne({ ...caller, surface: "start", cost }).catch((error: unknown) => error);
      expect(failure, String(cost)).to.be.instanceOf(Error);
    }
    expect(await chargeOne({ ...caller, surface: "start", cost: 10 })).to.deep.include({ verdict: "admitted" });
    expect((await chargeOne({ ...caller, surface: "start" })).verdict).to.equal("key_exhausted");
  });

  it("keeps all counts of an account in one key, with their window", async () => {
    const caller = newCaller();
    const other = newCaller(caller.accountId);
    const { window } = await chargeOne({ ...caller, surface: "reads" });
    await charge(2, { ...other, surface: "reads" });
    await charge(3, { ...caller, surface: "list" });
    expect(await redis.hgetall(redisKeys.ledger(caller.accountId))).to.deep.equal({
      window: `${window}`,
      reads: "3",
      [ledgerFields.key(caller.keyId, "reads")]: "1",
      [ledgerFields.key(other.keyId, "reads")]: "2",
      list: "3",
      [ledgerFields.key(caller.keyId, "list")]: "3",
    });
  });

  it("takes at most 800 bytes of Redis for an account whose two keys have used up all surfaces", async () => {
    const accountId = newTypeId("acct");
    for (const keyId of [newTypeId("key"), newTypeId("key")])
      for (const surface of SURFACES) await chargeOne({ accountId, keyId, surface, cost: PER_KEY[surface] });
    expect(await redis.memory("USAGE", redisKeys.ledger(accountId))).to.be.within(500, 800);
  });

  it("empties a ledger of any window but the current and the next", async () => {
    const caller = newCaller();
    const ledger = redisKeys.ledger(caller.accountId);
    const { window } = await chargeOne({ ...caller, surface: "start" });
    for (const stale of [window - 1, window - 1000, window + 2]) {
      await redis.hset(ledger, { window: stale, start: 20, [ledgerFields.key(caller.keyId, "start")]: 10, pack: 20 });
      expect(await chargeOne({ ...caller, surface: "start" })).to.deep.include({
        verdict: "admitted",
        window,
        key: { limit: 10, remaining: 9 },
      });
      expect(await redis.hgetall(ledger)).to.deep.equal({
        window: `${window}`,
        start: "1",
        [ledgerFields.key(caller.keyId, "start")]: "1",
      });
    }
  });

  it("keeps the account's version when it empties a ledger, and then its expiry is that of the window", async () => {
    const caller = newCaller();
    const ledger = redisKeys.ledger(caller.accountId);
    await raiseTo(redis, caller.accountId, 7);
    const { window } = await chargeOne({ ...caller, surface: "start" });
    await redis.hset(ledger, { window: window - 1 });
    expect((await chargeOne({ ...caller, surface: "start", accountVersion: 6 })).verdict).to.equal("outdated");
    expect((await chargeOne({ ...caller, surface: "start", accountVersion: 7 })).verdict).to.equal("admitted");
    expect(await redis.hget(ledger, "version")).to.equal("7");
    expect(await redis.pexpiretime(ledger)).to.be.above((window + 1) * DAY_MS);
  });

  it("refuses without emptying a ledger that has ended, and says that nothing is used", async () => {
    const caller = newCaller();
    const ledger = redisKeys.ledger(caller.accountId);
    const { window } = await chargeOne({ ...caller, surface: "start" });
    await redis.hset(ledger, { window: window - 1, start: 20 });
    expect(await chargeOne({ ...caller, surface: "start", cost: 11 })).to.deep.include({
      verdict: "key_exhausted",
      window,
      account: { limit: 20, remaining: 20 },
      key: { limit: 10, remaining: 10 },
    });
    expect(await redis.hgetall(ledger)).to.include({ window: `${window - 1}`, start: "20" });
  });

  it("keeps counting in the next window if the clock stepped back out of it", async () => {
    const caller = newCaller();
    const { window } = await chargeOne({ ...caller, surface: "start" });
    await redis.hset(redisKeys.ledger(caller.accountId), {
      window: window + 1,
      start: 19,
      [ledgerFields.key(caller.keyId, "start")]: 0,
    });
    expect(await chargeOne({ ...caller, surface: "start" })).to.deep.include({
      verdict: "admitted",
      window: window + 1,
      account: { limit: 20, remaining: 0 },
      key: { limit: 10, remaining: 9 },
    });
    expect((await chargeOne({ ...caller, surface: "start" })).verdict).to.equal("account_exhausted");
  });
});
