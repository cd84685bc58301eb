import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { GrantCounters } from "../../src/limiter/grant-counters.ts";
import {
  charge,
  type ChargeReply,
  type ChargeCall,
  drawGrant,
  NEVER,
  redisKeys,
  usage,
} from "../../src/limiter/scripts.ts";
import { limitsOf } from "../../src/limiter/surfaces.ts";
import { readUsage } from "../../src/limiter/usage.ts";
import { clearOfMidnight, limiterOver, newCaller, redisNow, useTestRedis } from "./support.ts";

const DAY_SECONDS = 86_400;
const MINUTE_MS = 60_000;
/** Charges that are sent in one go. They take Redis several milliseconds. */
const BURST = 200;

describe("the scripts that charge and that read the usage, to the millisecond and to the request,", () => {
  const redis = useTestRedis();
  beforeEach(() => clearOfMidnight(redis));

  const run = (more: Partial<ChargeCall>): Promise<ChargeReply> =>
    charge(redis, {
      caller: newCaller(),
      surface: "start",
      limits: { account: 20, key: 10 },
      windowSeconds: DAY_SECONDS,
      cost: 1,
      deadlineMs: 0,
      accountVersion: undefined,
      secretEndsAt: NEVER,
      ...more,
    });

  /**
   * Sends bursts of calls across a moment, until Redis has run one in exactly that millisecond, and one in that before.
   * @returns all of the last burst.
   */
  async function across<T extends { readonly nowMs: number }>(
    callAt: (moment: number) => Promise<() => Promise<T>>,
  ): Promise<{ moment: number; replies: T[] }> {
    for (let burst = 0; ; burst++) {
      const moment = (await redisNow(redis)) + 3 + (burst % 20); // a busy machine needs longer to send them
      const call = await callAt(moment);
      const replies = await Promise.all(Array.from({ length: BURST }, call));
      const at = new Set(replies.map(({ nowMs }) => nowMs));
      if (at.has(moment - 1) && at.has(moment)) return { moment, replies };
    }
  }

  for (const windowSeconds of [DAY_SECONDS, 60, 1])
    it(`tell Redis's time, and the window of that time, of ${windowSeconds} s`, async () => {
      const before = await redisNow(redis);
      const { nowMs, window } = await run({ windowSeconds });
      expect(nowMs).to.be.within(before, await redisNow(redis));
      expect(window).to.equal(Math.floor(nowMs / (windowSeconds * 1000)));
      const of = { caller: newCaller(), windowSeconds, accountVersion: undefined, secretEndsAt: NEVER };
      const read = await usage(redis, of);
      expect(read.nowMs).to.be.within(nowMs, await redisNow(redis));
      expect(read.resetMs).to.equal(windowSeconds * 1000 - (read.nowMs % (windowSeconds * 1000)));
    });

  it("charge until the deadline, and from that very millisecond on nothing", async () => {
    const limits = { account: 1_000, key: 1_000 };
    const { moment, replies } = await across(async (deadlineMs) => () => run({ deadlineMs, limits }));
    for (const { verdict, nowMs } of replies) expect(verdict === "stale").to.equal(nowMs >= moment);
  });

  it("take a replaced secret until its end, and not in that very millisecond", async () => {
    const limits = { account: 1_000, key: 1_000 };
    const { moment, replies } = await across(async (secretEndsAt) => () => run({ secretEndsAt, limits }));
    for (const { verdict, nowMs } of replies) expect(verdict === "replaced").to.equal(nowMs >= moment);
  });

  it("read the usage for a replaced secret until its end, and not in that very millisecond", async () => {
    const { moment, replies } = await across(async (secretEndsAt) => {
      const of = { caller: newCaller(), windowSeconds: DAY_SECONDS, accountVersion: undefined, secretEndsAt };
      return () => usage(redis, of);
    });
    for (const { refusal, nowMs } of replies) expect(refusal).to.equal(nowMs < moment ? undefined : "replaced");
  });

  /** Places a grant of starts. @returns draws one request on it. */
  async function granted(expiresAtMs: number, deadlineMs: number) {
    const caller = newCaller();
    const grant = { ...caller, grantId: "grant_1", surface: "start", amount: 1_000, expiresAtMs } as const;
    await new GrantCounters(redis).put(grant);
    return () => drawGrant(redis, { caller, surface: "start", cost: 1, deadlineMs });
  }

  it("draw on a grant until its end, and not in that very millisecond", async () => {
    const { moment, replies } = await across((expiresAtMs) => granted(expiresAtMs, 0));
    for (const { outcome, nowMs, grantAmount } of replies) {
      expect(outcome).to.equal(nowMs < moment ? "drawn" : "none");
      expect(grantAmount).to.equal(nowMs < moment ? 1_000 : -1);
    }
  });

  it("draw on a grant until the deadline, and from that very millisecond on not", async () => {
    const { moment, replies } = await across((deadlineMs) => granted(deadlineMs + MINUTE_MS, deadlineMs));
    for (const { outcome, nowMs } of replies) expect(outcome).to.equal(nowMs < moment ? "drawn" : "stale");
  });

  it("let a ledger expire 45 minutes after its window, and as much of 15 more as of a second was over", async () => {
    for (;;) {
      const caller = newCaller();
      const { nowMs, window } = await run({ caller });
      if (nowMs % 1000 < 500) continue; // a wrong constant must make more of a difference than a millisecond
      const expiresAt = await redis.pexpiretime(redisKeys.ledger(caller.accountId));
      const after = expiresAt - (window + 1) * DAY_SECONDS * 1000 - 45 * MINUTE_MS;
      const each = (15 * MINUTE_MS) / 1000;
      expect(after).to.be.within((nowMs % 1000) * each, ((nowMs % 1000) + 1) * each);
      return;
    }
  });

  it("tell how long it is to the end of the window, to the millisecond", async () => {
    const limiter = limiterOver(redis);
    for (let isExact = false; !isExact;) {
      const first = redisNow(redis);
      const charged = limiter.charge({ ...newCaller(), surface: "start" });
      await setImmediate(); // it is sent
      const [before, { resetMs, window }, after] = await Promise.all([first, charged, redisNow(redis)]);
      const end = (window + 1) * DAY_SECONDS * 1000;
      expect(resetMs).to.be.within(end - after, end - before);
      isExact = before === after;
    }
  });

  it("tell that nothing remains, not less than nothing, once a limit is lowered below what was used", async () => {
    const caller = newCaller();
    await run({ caller, cost: 108, limits: { account: 1_000, key: 1_000 } });
    expect(await limiterOver(redis).charge({ ...caller, surface: "start" })).to.deep.include({
      verdict: "account_exhausted",
      account: { limit: 20, remaining: 0 },
      key: { limit: 10, remaining: 0 },
    });
    const usage = await readUsage({ redis, windowSeconds: DAY_SECONDS, scale: 1, timeoutMs: 5_000 }, caller);
    expect(usage.surfaces.find(({ surface }) => surface === "start")).to.deep.include({
      account: { limit: 20, used: 108, remaining: 0 },
      key: { limit: 10, used: 108, remaining: 0 },
    });
  });

  it("multiply every limit by LIMIT_SCALE", () => {
    expect(limitsOf("start", 3)).to.deep.equal({ account: 60, key: 30 });
  });
});
