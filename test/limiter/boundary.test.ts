import { expect } from "chai";
import { GrantCounters } from "../../src/limiter/grant-counters.ts";
import { ANY_VERSION, charge, type ChargeAnswer, type ChargeCall, NEVER } from "../../src/limiter/scripts.ts";
import { limitsOf } from "../../src/limiter/surfaces.ts";
import { readUsage } from "../../src/limiter/usage.ts";
import { clearOfMidnight, newCaller, redisNow, useTestRedis } from "./support.ts";

const DAY_SECONDS = 86_400;
/** Charges that are sent in one go. They take Redis several milliseconds. */
const BURST = 200;

describe("the script that charges, to the millisecond and to the request,", () => {
  const redis = useTestRedis();
  beforeEach(() => clearOfMidnight(redis));

  const run = (more: Partial<ChargeCall>): Promise<ChargeAnswer> =>
    charge(redis, {
      caller: newCaller(),
      surface: "start",
      limits: { account: 20, key: 10 },
      windowSeconds: DAY_SECONDS,
      cost: 1,
      deadlineMs: 0,
      accountVersion: ANY_VERSION,
      secretEndsAt: NEVER,
      ...more,
    });

  /**
   * Sends bursts of charges across a moment, until Redis has run one in exactly that millisecond.
   * @returns all of the last burst.
   */
  async function across(callAt: (moment: number) => Promise<Partial<ChargeCall>>) {
    for (;;) {
      const moment = (await redisNow(redis)) + 3;
      const call = await callAt(moment);
      const answers = await Promise.all(Array.from({ length: BURST }, () => run(call)));
      if (answers.some(({ nowMs }) => nowMs === moment)) return { moment, answers };
    }
  }

  it("charges until the deadline, and from that very millisecond on nothing", async () => {
    const limits = { account: 1_000, key: 1_000 };
    const { moment, answers } = await across((deadlineMs) => Promise.resolve({ deadlineMs, limits }));
    for (const { verdict, nowMs } of answers) expect(verdict === "stale").to.equal(nowMs >= moment);
  });

  it("takes a replaced secret until its end, and not in that very millisecond", async () => {
    const limits = { account: 1_000, key: 1_000 };
    const { moment, answers } = await across((secretEndsAt) => Promise.resolve({ secretEndsAt, limits }));
    for (const { verdict, nowMs } of answers) expect(verdict === "replaced").to.equal(nowMs >= moment);
  });

  it("draws on a grant until its end, and not in that very millisecond", async () => {
    const { moment, answers } = await across(async (expiresAtMs) => {
      const caller = newCaller();
      await new GrantCounters(redis).put({
        ...caller,
        grantId: "grant_1",
        surface: "start",
        amount: 1_000,
        expiresAtMs,
      });
      return { caller, limits: { account: 0, key: 0 } };
    });
    for (const { verdict, nowMs, grantAmount } of answers) {
      expect(verdict).to.equal(nowMs < moment ? "granted" : "account_exhausted");
      expect(grantAmount).to.equal(nowMs < moment ? 1_000 : -1);
    }
  });

  it("tells Redis's time, and how long it is to the end of the window", async () => {
    const before = await redisNow(redis);
    const { nowMs, resetMs } = await run({});
    expect(nowMs).to.be.within(before, await redisNow(redis));
    expect((nowMs + resetMs) % (DAY_SECONDS * 1000)).to.equal(0);
    expect(resetMs).to.be.within(1, DAY_SECONDS * 1000);
  });

  it("tells that nothing remains, not less than nothing, once a limit is lowered below what was used", async () => {
    const caller = newCaller();
    await run({ caller, cost: 8, limits: { account: 20, key: 10 } });
    expect(await run({ caller, limits: { account: 6, key: 3 } })).to.include({
      verdict: "account_exhausted",
      accountRemaining: 0,
      keyRemaining: 0,
    });
    const large = { account: 1_000, key: 1_000 };
    await run({ caller, cost: 100, limits: large });
    const usage = await readUsage({ redis, windowSeconds: DAY_SECONDS, scale: 1, timeoutMs: 5_000 }, caller);
    expect(usage.surfaces.find(({ surface }) => surface === "start")).to.deep.include({
      account: { limit: 20, used: 108, remaining: 0 },
      key: { limit: 10, used: 108, remaining: 0 },
    });
  });

  it("multiplies every limit by LIMIT_SCALE", () => {
    expect(limitsOf("start", 3)).to.deep.equal({ account: 60, key: 30 });
  });
});
