import { expect } from "chai";
import { SharedClock } from "../../src/infra/clock.ts";
import type { RedisClient } from "../../src/infra/redis.ts";
import { serverOf } from "../../src/infra/redis-connections.ts";
import { limiterOver, newCaller } from "./support.ts";

const SLOTS = 16_384;
const SKEW_MS = 60_000;
const TIMEOUT_MS = 1_000;

interface Master {
  readonly name: string;
  readonly aheadMs: number;
  /** For each charge that it got: how long after its arrival its deadline was, in milliseconds. */
  readonly leftMs: number[];
}

/**
 * A cluster of two masters whose clocks differ, each with half of the slots. It replies like lua/charge.lua, and admits
 * every charge that is not stale. A stand-in, because a real server's clock cannot be shifted without shifting that of the
 * whole machine.
 */
function skewedCluster(masters: readonly [Master, Master]) {
  const owner = (slot: number) => masters[slot < SLOTS / 2 ? 0 : 1];
  const timeOf = ({ aheadMs }: Master) => Math.floor(Date.now() + aheadMs);
  const cluster = {
    isCluster: true,
    slots: Array.from({ length: SLOTS }, (_, slot) => [
      `${owner(slot).name}:7000`,
      `replica-of-${owner(slot).name}:7000`,
    ]),
    nodes: () =>
      masters.map((master) => ({
        options: { host: master.name, port: 7000 },
        time: () => Promise.resolve([Math.floor(timeOf(master) / 1000), (timeOf(master) % 1000) * 1000]),
      })),
    evalsha(_sha: string, keyCount: number, ...given: (string | number)[]) {
      const accountId = /\{(.*)\}/.exec(String(given[0]))?.[1] ?? "";
      const master = masters.find(({ name }) => serverOf(redis, accountId) === `${name}:7000`);
      if (master === undefined) throw new Error("No master has this slot.");
      const now = timeOf(master);
      const deadline = Number(given[keyCount + 6]);
      master.leftMs.push(deadline - now);
      const time = `${Math.floor(now / 1000)} ${(now % 1000) * 1000}`;
      return Promise.resolve(now >= deadline ? `stale 0 0 0 ${time}` : `admitted 0 0 20000 ${time}`);
    },
  };
  const redis = cluster as unknown as RedisClient;
  return redis;
}

describe("a Cluster whose masters' clocks are two minutes apart", () => {
  let slow: Master;
  let fast: Master;
  let redis: RedisClient;
  beforeEach(() => {
    slow = { name: "slow", aheadMs: -SKEW_MS, leftMs: [] };
    fast = { name: "fast", aheadMs: SKEW_MS, leftMs: [] };
    redis = skewedCluster([slow, fast]);
  });

  const accountsOf = (master: Master, count: number) =>
    Array.from({ length: 100 }, () => newCaller())
      .filter(({ accountId }) => serverOf(redis, accountId) === `${master.name}:7000`)
      .slice(0, count);

  it("knows which master an account's keys are sent to", () => {
    // The slots of these tags are 12182, 5061 and 12739, says CLUSTER KEYSLOT.
    expect(["foo", "bar", "123456789"].map((tag) => serverOf(redis, tag))).to.deep.equal([
      "fast:7000",
      "slow:7000",
      "fast:7000",
    ]);
  });

  it("gets every charge once, with a deadline on the clock of its own master", async () => {
    const limiter = limiterOver(redis, { timeoutMs: TIMEOUT_MS });
    const [ones, others] = [accountsOf(slow, 10), accountsOf(fast, 10)];
    for (const [n, one] of ones.entries()) {
      for (const caller of [one, others[n]!]) {
        expect((await limiter.charge({ ...caller, surface: "start" })).verdict).to.equal("admitted");
      }
    }
    for (const { leftMs } of [slow, fast]) {
      const [first, ...then] = leftMs;
      expect(first, "the first only asks for the time").to.be.below(0);
      expect(then).to.have.length(10);
      // Date.now() and performance.now() are not read at the same instant.
      for (const left of then) expect(left).to.be.within(TIMEOUT_MS - 500, TIMEOUT_MS + 2);
    }
  });

  it("does not move the service's clock from one master's to the other's", async () => {
    const clock = new SharedClock();
    const limiter = limiterOver(redis, { clock, timeoutMs: TIMEOUT_MS });
    const [ones, others] = [accountsOf(slow, 5), accountsOf(fast, 5)];
    await limiter.charge({ ...others[0]!, surface: "start" });
    for (const caller of [...ones, ...others]) {
      await limiter.charge({ ...caller, surface: "start" });
      // The clock of slot 0's master.
      expect(clock.now()).to.be.closeTo(Date.now() - SKEW_MS, 1_000);
    }
  });
});
