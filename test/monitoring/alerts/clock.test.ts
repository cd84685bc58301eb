import { expect } from "chai";
import { startShiftedRedis } from "../../support/shifted-redis.ts";
import { useStarted } from "../../support/use-started.ts";
import { expectReadable, useObserved } from "../support/observed.ts";

describe("the alerts while the clock of Redis", () => {
  const redis = useStarted(
    "Redis with a clock that can be wrong",
    () => startShiftedRedis(process.env.REDIS_URL!),
    (started) => started.close(),
  );
  const { prometheus } = useObserved(() => ({ REDIS_URL: redis.url }));

  it("is right: none", async () => {
    await prometheus.until("count(clock_offset_seconds) == 3");
    expect(await prometheus.firingNow()).to.deep.equal([]);
  });

  it("is five minutes ahead: clock wrong, until it is put right", async () => {
    redis.ahead = 300;
    const alert = await prometheus.firing("OnboardingClockWrong");
    expectReadable(alert);
    expect(alert.labels.clock).to.equal("redis");
    redis.ahead = 0;
    await prometheus.quiet("OnboardingClockWrong");
  });
});
