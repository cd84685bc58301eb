import { expect } from "chai";
import { redisKeys } from "../../src/limiter/redis-keys.ts";
import { KeyMarkers } from "../../src/limiter/key-markers.ts";
import { newCaller, useLimiter, verdicts } from "./support.ts";

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

  it("leaves both counters as they were when it refuses", async () => {
    const caller = newCaller();
    await charge(10, { ...caller, surface: "start" });
    const stored = () =>
      redis.mget(redisKeys.accountCounter(caller.accountId, "start"), redisKeys.keyCounter(caller, "start"));
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

  it("lets every counter expire 10 seconds after its window ends", async () => {
    const caller = newCaller();
    const { window } = await chargeOne({ ...caller, surface: "reads" });
    for (const key of [redisKeys.accountCounter(caller.accountId, "reads"), redisKeys.keyCounter(caller, "reads")]) {
      expect(await redis.pexpiretime(key)).to.equal((window + 1) * DAY_MS + 10_000);
    }
  });

  it("ignores a counter of any window but the current and the next", async () => {
    const caller = newCaller();
    const { window } = await chargeOne({ ...caller, surface: "start" });
    for (const stale of [window - 1, window - 1000, window + 2]) {
      await redis.mset(
        redisKeys.accountCounter(caller.accountId, "start"),
        `${stale}:20`,
        redisKeys.keyCounter(caller, "start"),
        `${stale}:10`,
      );
      expect(await chargeOne({ ...caller, surface: "start" })).to.deep.include({
        verdict: "admitted",
        window,
        key: { limit: 10, remaining: 9 },
      });
    }
  });

  it("keeps counting in the next window if the clock stepped back out of it", async () => {
    const caller = newCaller();
    const { window } = await chargeOne({ ...caller, surface: "start" });
    await redis.mset(
      redisKeys.accountCounter(caller.accountId, "start"),
      `${window + 1}:19`,
      redisKeys.keyCounter(caller, "start"),
      `${window}:10`,
    );
    expect(await chargeOne({ ...caller, surface: "start" })).to.deep.include({
      verdict: "admitted",
      window: window + 1,
      account: { limit: 20, remaining: 0 },
      key: { limit: 10, remaining: 9 },
    });
    expect((await chargeOne({ ...caller, surface: "start" })).verdict).to.equal("account_exhausted");
  });

  it("refuses a revoked key and still admits the account's other keys", async () => {
    const caller = newCaller();
    await new KeyMarkers(redis).markRevoked(caller.accountId, caller.keyId);
    expect(await last(1, { ...caller, surface: "reads" })).to.deep.include({
      verdict: "revoked",
      key: { limit: 300, remaining: 300 },
    });
    expect((await chargeOne({ ...newCaller(caller.accountId), surface: "reads" })).verdict).to.equal("admitted");
  });

  it("refuses every key of a suspended account until it is resumed", async () => {
    const caller = newCaller();
    const markers = new KeyMarkers(redis);
    await markers.markStatus(caller.accountId, "suspended", 1);
    expect((await chargeOne({ ...caller, surface: "create" })).verdict).to.equal("suspended");
    await markers.markStatus(caller.accountId, "active", 2);
    expect((await chargeOne({ ...caller, surface: "create" })).verdict).to.equal("admitted");
  });

  it("keeps a marker for a day", async () => {
    const caller = newCaller();
    await new KeyMarkers(redis).markRevoked(caller.accountId, caller.keyId);
    expect(await redis.pttl(redisKeys.keyMarker(caller))).to.be.within(DAY_MS - 10_000, DAY_MS);
  });
});
