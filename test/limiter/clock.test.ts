import { expect } from "chai";
import { SharedClock } from "../../src/infra/clock.ts";
import { connectRedis } from "../../src/infra/redis.ts";
import { startRedis } from "../support/servers.ts";
import { startProxy } from "./proxy.ts";
import { limiterOver, newCaller, useTestRedis } from "./support.ts";

describe("a replica whose clock is wrong", () => {
  const redis = useTestRedis();

  for (const [hours, direction] of [
    [-1, "behind"],
    [1, "ahead"],
  ] as const) {
    it(`decides as the other replicas do when it is an hour ${direction}`, async () => {
      const clock = new SharedClock();
      clock.follow(Date.now() + hours * 3_600_000);
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

  it("corrects its clock from the first answer of Redis", async () => {
    const clock = new SharedClock();
    clock.follow(Date.now() - 3_600_000);
    await limiterOver(redis, { clock }).charge({ ...newCaller(), surface: "start" });
    expect(clock.now()).to.be.closeTo(Date.now(), 2_000);
  });

  it("does not correct its clock from an answer that took long to arrive", async () => {
    const server = await startRedis();
    const slow = await startProxy(server.port);
    const client = await connectRedis({ url: slow.url, timeoutMs: 5_000 });
    try {
      const clock = new SharedClock();
      const limiter = limiterOver(client, { clock });
      await limiter.charge({ ...newCaller(), surface: "start" });
      slow.answerDelayMs = 1_500;
      await limiter.charge({ ...newCaller(), surface: "start" });
      expect(clock.now()).to.be.closeTo(Date.now(), 1_000);
    } finally {
      client.disconnect();
      slow.close();
      await server.stop();
    }
  }).timeout(60_000);
});
