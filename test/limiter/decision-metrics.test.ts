import { expect } from "chai";
import { Metrics } from "../../src/infra/metrics.ts";
import { GrantCounters } from "../../src/limiter/grant-counters.ts";
import { Scrape } from "../support/metrics.ts";
import { clearOfMidnight, limiterOver, newCaller, raiseTo, redisNow, useTestRedis } from "./support.ts";

const surface = "start";

describe("the limiter's decisions in the metrics", () => {
  const redis = useTestRedis();
  before(() => clearOfMidnight(redis));

  it("say what each verdict counts against", async () => {
    const metrics = new Metrics();
    const limiter = limiterOver(redis, { metrics });
    const caller = newCaller();
    const expiresAtMs = (await redisNow(redis)) + 86_400_000;
    await new GrantCounters(redis).put({ ...caller, grantId: "grant_1", surface, amount: 1, expiresAtMs });
    for (let sent = 0; sent < 12; sent++) await limiter.charge({ ...caller, surface });
    const second = newCaller(caller.accountId);
    for (let sent = 0; sent < 10; sent++) await limiter.charge({ ...second, surface });
    await limiter.charge({ ...newCaller(caller.accountId), surface });
    const changed = newCaller();
    await raiseTo(redis, changed.accountId, 7);
    await limiter.charge({ ...changed, surface, accountVersion: 6 });
    await limiter.charge({ ...changed, surface, accountVersion: 7, secretEndsAt: await redisNow(redis) });

    const scrape = new Scrape(await metrics.registry.metrics());
    const expected = {
      admitted: ["", 20],
      granted: ["grant", 1],
      key_exhausted: ["key", 1],
      account_exhausted: ["account", 1],
      outdated: ["key", 1],
      replaced: ["key", 1],
    } as const;
    for (const [verdict, [scope, count]] of Object.entries(expected))
      expect(scrape.value("limiter_decisions_total", { surface, verdict, scope }), verdict).to.equal(count);
  });
});
