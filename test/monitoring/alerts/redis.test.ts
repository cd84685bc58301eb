import { expect } from "chai";
import { connectRedis } from "../../../src/infra/redis.ts";
import { useRedisServer } from "../../support/servers.ts";
import { expectReadable, useObserved } from "../support/observed.ts";
import { useTraffic } from "../support/traffic.ts";

describe("the alerts while Redis", () => {
  const MAX_BYTES = 16 * 1024 ** 2;
  const server = useRedisServer({ args: ["--maxmemory", `${MAX_BYTES}`, "--maxmemory-policy", "noeviction"] });
  const { service, prometheus } = useObserved(() => ({ REDIS_URL: server.url }));
  const traffic = useTraffic(service);

  it("is well: none", async () => {
    expect(await prometheus.firingNow()).to.deep.equal([]);
    expect([...traffic.statuses.keys()]).to.deep.equal([200]);
  });

  it("is killed: limiter unavailable, and the failures' budget burns until it is back", async () => {
    await server.kill();
    expectReadable(await prometheus.firing("OnboardingLimiterUnavailable"));
    expectReadable(await prometheus.firing("OnboardingErrorBudgetBurnsFast"));
    expectReadable(await prometheus.firing("OnboardingErrorBudgetBurnsSlowly"));
    expect(await prometheus.firingNow(), "MongoDB is well").not.to.include("OnboardingStoreUnavailable");
    await server.restart();
    await prometheus.quiet("OnboardingLimiterUnavailable");
    await prometheus.quiet("OnboardingErrorBudgetBurnsFast");
  });

  it("is killed while nobody sends a request: limiter unavailable", async () => {
    await traffic.stop();
    await server.kill();
    expectReadable(await prometheus.firing("OnboardingLimiterUnavailable"));
    await server.restart();
    await prometheus.quiet("OnboardingLimiterUnavailable");
  });

  it("is almost full: memory near its limit", async () => {
    const redis = await connectRedis({ url: server.url, timeoutMs: 5_000 });
    // Leaves out what waits to be written to the append-only file. On a slow disk that is megabytes, and soon it is gone.
    const used = async () => {
      const info = await redis.info("memory");
      const of = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1]);
      return of("used_memory") - of("mem_aof_buffer");
    };
    while ((await used()) < 0.85 * MAX_BYTES) await redis.rpush("ballast", Buffer.alloc(100_000));
    expectReadable(await prometheus.firing("OnboardingRedisMemoryNearLimit"));
    while ((await used()) < 0.92 * MAX_BYTES) await redis.rpush("ballast", Buffer.alloc(100_000));
    expectReadable(await prometheus.firing("OnboardingRedisNearlyFull"));
    await redis.del("ballast");
    redis.disconnect();
    await prometheus.quiet("OnboardingRedisMemoryNearLimit");
    await prometheus.quiet("OnboardingRedisNearlyFull");
  });

  it("has a policy that evicts limits: evicts", async () => {
    const redis = await connectRedis({ url: server.url, timeoutMs: 5_000 });
    await redis.config("SET", "maxmemory-policy", "volatile-lru");
    expectReadable(await prometheus.firing("OnboardingRedisEvicts"));
    await redis.config("SET", "maxmemory-policy", "noeviction");
    redis.disconnect();
    await prometheus.quiet("OnboardingRedisEvicts");
  });
});
