import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import type { RedisClient } from "../../src/infra/redis.ts";
import { GrantCounters } from "../../src/limiter/grant-counters.ts";
import { redisKeys } from "../../src/limiter/scripts.ts";
import { limitsOf, SURFACES } from "../../src/limiter/surfaces.ts";
import type { Caller } from "../../src/accounts/caller.ts";
import { earlyInWindow, limiterOver, newCaller, raiseTo, redisNow, useLimiter, verdicts } from "./support.ts";

const DAY_MS = 86_400_000;

describe("charging a request, with grants", () => {
  const { redis, charge, last, chargeOne } = useLimiter();
  const store = new GrantCounters(redis);
  type Placed = Parameters<GrantCounters["put"]>[0];
  /** Places a grant of creates for the key, which lasts so many days. @returns whether it is new. */
  const place = async (caller: Caller, more: Partial<Placed> & { amount: number }, days = 1) =>
    store.put({
      ...caller,
      grantId: "grant_1",
      surface: "create",
      expiresAtMs: (await redisNow(redis)) + days * DAY_MS,
      ...more,
    });

  it("draws a grant if the key's window is exhausted, and charges neither counter", async () => {
    const caller = newCaller();
    await place(caller, { amount: 3 });
    const decisions = await charge(105, { ...caller, surface: "create" });
    expect(verdicts(decisions)).to.deep.equal({ admitted: 100, granted: 3, key_exhausted: 2 });
    expect(decisions.at(-1)).to.deep.include({
      account: { limit: 200, remaining: 100 },
      grantRemaining: 0,
      grantAmount: 3,
    });
  });

  it("draws a grant if the account's window is exhausted", async () => {
    const caller = newCaller();
    await place(caller, { amount: 1 });
    await charge(100, { ...newCaller(caller.accountId), surface: "create" });
    await charge(100, { ...newCaller(caller.accountId), surface: "create" });
    expect(await last(1, { ...caller, surface: "create" })).to.deep.include({
      verdict: "granted",
      key: { limit: 100, remaining: 100 },
    });
    expect((await chargeOne({ ...caller, surface: "create" })).verdict).to.equal("account_exhausted");
  });

  for (const surface of SURFACES) {
    it(`draws a grant for ${surface}, and only for that`, async () => {
      const caller = newCaller();
      const limit = limitsOf(surface, 1).key;
      await place(caller, { surface, amount: 3 });
      expect(verdicts(await charge(limit + 5, { ...caller, surface }))).to.deep.equal({
        admitted: limit,
        granted: 3,
        key_exhausted: 2,
      });
      for (const other of SURFACES.filter((each) => each !== surface))
        expect(await last(limitsOf(other, 1).key + 1, { ...caller, surface: other })).to.deep.include({
          verdict: "key_exhausted",
          grantRemaining: null,
        });
    });
  }

  it("draws the grant that expires first, whatever its id, and whichever was issued first", async () => {
    const days = { grant_a: 2, grant_b: 1 };
    for (const ids of [["grant_a", "grant_b"] as const, ["grant_b", "grant_a"] as const]) {
      const caller = newCaller();
      for (const grantId of ids) await place(caller, { grantId, amount: 5 }, days[grantId]);
      await charge(106, { ...caller, surface: "create" });
      expect((await store.list(caller, "create")).map(({ id, remaining }) => [id, remaining])).to.deep.equal([
        ["grant_b", 0],
        ["grant_a", 4],
      ]);
    }
  });

  it("draws grants that expire together in the order of their ids, in which they are also listed", async () => {
    const caller = newCaller();
    const expiresAtMs = (await redisNow(redis)) + DAY_MS;
    const ids = ["grant_c", "grant_a", "grant_d", "grant_b"];
    for (const grantId of ids) await place(caller, { grantId, amount: 1, expiresAtMs });
    await charge(100, { ...caller, surface: "create" });
    const drawn: string[] = [];
    for (const _ of ids) {
      await chargeOne({ ...caller, surface: "create" });
      const empty = (await store.list(caller, "create")).filter(({ remaining }) => remaining === 0).map(({ id }) => id);
      expect(empty.slice(0, -1)).to.deep.equal(drawn);
      drawn.push(empty.at(-1) ?? "none");
    }
    expect(drawn).to.deep.equal(ids.toSorted());
  });

  it("tells what remains of all live grants together, after the request", async () => {
    const caller = newCaller();
    for (const [grantId, amount, days] of [
      ["grant_a", 3, 1],
      ["grant_b", 4, 2],
      ["grant_over", 9, -1],
    ] as const)
      await place(caller, { grantId, surface: "start", amount }, days);
    expect(await chargeOne({ ...caller, surface: "start" })).to.include({ grantRemaining: 7, grantAmount: 7 });
    await charge(9, { ...caller, surface: "start" });
    expect(await chargeOne({ ...caller, surface: "start" })).to.include({
      verdict: "granted",
      grantRemaining: 6,
      grantAmount: 7,
    });
  });

  it("tells that a grant is empty that has not been filled yet", async () => {
    const caller = newCaller();
    await place(caller, { surface: "start", amount: 0 });
    expect(await chargeOne({ ...caller, surface: "start" })).to.include({ grantRemaining: 0, grantAmount: 0 });
  });

  it("never draws a grant that has expired, was revoked, belongs to another key or is for another surface", async () => {
    const caller = newCaller();
    await place(caller, { grantId: "grant_expired", amount: 5, expiresAtMs: (await redisNow(redis)) - 1 });
    await place(caller, { grantId: "grant_revoked", amount: 5 });
    await place(newCaller(caller.accountId), { grantId: "grant_other", amount: 5 });
    expect(await store.remove({ ...caller, surface: "create", grantId: "grant_revoked" })).to.equal(true);
    expect(await last(101, { ...caller, surface: "create" })).to.deep.include({
      verdict: "key_exhausted",
      grantRemaining: null,
    });
    await place(caller, { grantId: "grant_live", amount: 5 });
    expect(await last(11, { ...caller, surface: "start" })).to.deep.include({
      verdict: "key_exhausted",
      grantRemaining: null,
    });
  });

  it("ignores a second grant with the same id, and keeps what was drawn from the first", async () => {
    const caller = newCaller();
    const grant = { amount: 2, expiresAtMs: (await redisNow(redis)) + DAY_MS };
    expect(await place(caller, grant)).to.equal(true);
    await charge(101, { ...caller, surface: "create" });
    expect(await place(caller, grant)).to.equal(false);
    expect(verdicts(await charge(3, { ...caller, surface: "create" }))).to.deep.equal({
      granted: 1,
      key_exhausted: 2,
    });
  });

  it("removes a key's grants a day after the last of them expires", async () => {
    const now = await redisNow(redis);
    for (const days of [
      [1, 2],
      [2, 1],
    ]) {
      const caller = newCaller();
      for (const day of days)
        await place(caller, { grantId: `grant_${day}`, amount: 1, expiresAtMs: now + day * DAY_MS });
      expect(await redis.pexpiretime(redisKeys.grants(caller, "create"))).to.equal(now + 3 * DAY_MS);
    }
  });

  it("draws no grant for a key that must be looked up again", async () => {
    const caller = newCaller();
    const { accountId } = caller;
    await place(caller, { amount: 1 });
    await charge(100, { ...caller, surface: "create" });
    await raiseTo(redis, accountId, 2);
    const claim = { ...caller, surface: "create" } as const;
    expect((await chargeOne({ ...claim, accountVersion: 1 })).verdict).to.equal("outdated");
    expect((await store.list(caller, "create")).map(({ remaining }) => remaining)).to.deep.equal([1]);
    expect((await chargeOne({ ...claim, accountVersion: 2 })).verdict).to.equal("granted");
  });

  it("draws no grant for a window that ends before the draw, but charges the new one", async () => {
    const caller = newCaller();
    await place(caller, { amount: 1 });
    let draws = 0;
    // Holds the first draw back until the window has ended.
    const held = Object.create(redis, {
      evalsha: {
        async value(...call: Parameters<RedisClient["evalsha"]>) {
          const isDraw = String(call[2]).includes(":grants:");
          if (isDraw && draws++ === 0) await setTimeout(1_000 - ((await redisNow(redis)) % 1_000) + 1);
          return redis.evalsha(...call);
        },
      },
    }) as RedisClient;
    const limiter = limiterOver(held, { windowSeconds: 1 });
    await earlyInWindow(redis, 1);
    const first = await limiter.charge({ ...caller, surface: "create", cost: 100 });
    const second = await limiter.charge({ ...caller, surface: "create" });
    expect([first, second].map(({ verdict }) => verdict)).to.deep.equal(["admitted", "admitted"]);
    expect([draws, second.window]).to.deep.equal([1, first.window + 1]);
    expect((await store.list(caller, "create")).map(({ remaining }) => remaining)).to.deep.equal([1]);
  });
});
