import { expect } from "chai";
import { SharedClock } from "../../src/infra/clock.ts";
import { useRedisClient, useRedisServer } from "../support/servers.ts";
import { useProxy } from "./proxy.ts";
import { limiterOver, newCaller, problemOf, redisNow, useTestRedis } from "./support.ts";

/** That of this machine's clock, in milliseconds: see SharedClock. */
const OFFSET = Date.now() - performance.now();

describe("a replica whose clock is wrong", () => {
  const redis = useTestRedis();

  for (const [hours, direction] of [
    [-1, "behind"],
    [1, "ahead"],
  ] as const) {
    it(`decides as the other replicas do when it is an hour ${direction}`, async () => {
      const clock = new SharedClock();
      clock.follow(OFFSET + hours * 3_600_000);
      const request = { ...newCaller(), surface: "start" } as const;
      const wrong = await limiterOver(redis, { clock, windowSeconds: 60 }).charge(request);
      const right = await limiterOver(redis, { windowSeconds: 60 }).charge(request);
      expect(wrong.verdict).to.equal("admitted");
      expect(right).to.deep.include({
        verdict: "admitted",
        key: { limit: 10, remaining: right.window === wrong.window ? 8 : 9 },
      });
    });
  }

  it("does not follow a step of Redis's clock, but has it looked into", async () => {
    let steps = 0;
    const clock = new SharedClock();
    clock.onStep = () => steps++;
    clock.follow(OFFSET - 3_600_000);
    await limiterOver(redis, { clock }).charge({ ...newCaller(), surface: "start" });
    expect(clock.now()).to.be.closeTo(Date.now() - 3_600_000, 2_000);
    expect(steps, "the first charge was stale").to.equal(2);
    expect(clock.redis.now()).to.be.closeTo(Date.now(), 2_000);
    clock.set(OFFSET + 1_000);
    await limiterOver(redis, { clock }).charge({ ...newCaller(), surface: "start" });
    expect(steps).to.equal(2);
  });

  it("sends no charge with a deadline by its own clock, if that differs from Redis's", async () => {
    const clock = new SharedClock();
    clock.follow((await redisNow(redis)) - performance.now());
    clock.set(OFFSET + 3_600_000);
    const deadlines: number[] = [];
    const evalsha = (...given: Parameters<typeof redis.evalsha>) => {
      deadlines.push(Number(given[2 + Number(given[1]) + 6]));
      return redis.evalsha(...given);
    };
    const spying = new Proxy(redis, {
      get: (target, name) => (name === "evalsha" ? evalsha : (Reflect.get(target, name) as unknown)),
    });
    await limiterOver(spying, { clock }).charge({ ...newCaller(), surface: "start" });
    const latest = (await redisNow(redis)) + 5_000;
    expect(deadlines).to.have.length(1);
    expect(deadlines.filter((deadline) => deadline > latest)).to.deep.equal([]);
  });

  describe("and whose way to Redis is slow", () => {
    const server = useRedisServer();
    const slow = useProxy(server);
    const client = useRedisClient(slow);
    afterEach(() => slow.mend());

    it("does not take its clock from a reply that came too late for its request", async () => {
      const followed: number[] = [];
      const clock = new SharedClock();
      clock.follow = (offset) => void followed.push(offset);
      const limiter = limiterOver(client, { clock, timeoutMs: 100 });
      await limiterOver(client).charge({ ...newCaller(), surface: "start" }); // Redis then has the script
      slow.swallow("toClient");
      const refused = await problemOf(limiter.charge({ ...newCaller(), surface: "start" }));
      expect(refused).to.include({ code: "limiter_unavailable" });
      slow.mend();
      await slow.delivered();
      await client.ping(); // its reply comes after that of the charge
      expect(followed).to.deep.equal([]);
    });

    it("does not correct its clock from a reply that took long to arrive", async () => {
      const clock = new SharedClock();
      const limiter = limiterOver(client, { clock });
      await limiter.charge({ ...newCaller(), surface: "start" });
      slow.answerDelayMs = 1_500;
      await limiter.charge({ ...newCaller(), surface: "start" });
      expect(clock.now()).to.be.closeTo(Date.now(), 1_000);
    });

    it("does not allow a charge more time because the one before it was slow", async () => {
      const limiter = limiterOver(client, { timeoutMs: 3_000 });
      const request = { ...newCaller(), surface: "start" } as const;
      slow.delayMs = 1_500;
      expect((await limiter.charge(request)).verdict).to.equal("admitted");
      slow.delayMs = 3_100;
      expect(await problemOf(limiter.charge(request))).to.include({ code: "limiter_unavailable" });
      await slow.delivered();
      slow.mend();
      expect((await limiterOver(client).charge(request)).key, "only the first one counted").to.include({
        remaining: 8,
      });
    });
  });

  it("may be set back by the first reply, and after that never runs backwards", () => {
    const clock = new SharedClock();
    const first = clock.now() - 3_600_000;
    clock.follow(first - performance.now());
    expect(clock.now()).to.be.within(first, first + 3_000_000);
    const shown = clock.now();
    clock.follow(first - 10_000 - performance.now());
    expect(clock.now()).to.be.at.least(shown);
  });
});
