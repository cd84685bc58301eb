import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { connectRedis, type RedisClient } from "../../../src/infra/redis.ts";
import { startRedis, useRedisServer } from "../../support/servers.ts";
import { useStarted } from "../../support/use-started.ts";
import { expectLimitsHold, expectExactLimits, REPLICAS, useReplicasOver } from "./expectations.ts";
import { SHORT_WINDOW_SECONDS } from "./windows.ts";

describe(`the limits of ${REPLICAS} replicas hold while Redis`, function () {
  this.timeout(90_000);
  let dir: string;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "onboarding-redis-"));
  });
  const server = useStarted(
    "The Redis server",
    () => startRedis({ dir }),
    (server) => server.stop(),
  );
  const service = useReplicasOver(server);
  let operator: RedisClient;
  before(async () => {
    operator = await connectRedis({ url: server.url, timeoutMs: 5_000 });
  });
  after(() => {
    operator?.disconnect();
    rmSync(dir, { recursive: true, force: true });
  });

  it("is paused", async () => {
    await expectExactLimits(service, {
      strike: () => server.pause(),
      heal: () => server.resume(),
      whileIdle: true,
    });
  });

  it("is stopped and restarted with its data", async () => {
    const fault = { strike: () => server.stop(), heal: () => server.restart(), whileIdle: true };
    await expectExactLimits(service, fault);
  });

  // Redis shuts down within a turn of its event loop. A charge that ran in that same turn counts but gets no response.
  for (const [how, ending] of [
    ["stopped under load", () => server.stop()],
    ["killed", () => server.kill()],
  ] as const) {
    it(`is ${how} and restarted with its data`, async () => {
      const { lost } = await expectLimitsHold(service, { strike: ending, heal: () => server.restart() });
      expect(lost).to.equal(0);
    });
  }

  it("is killed and restarted without its data", async () => {
    const { lost } = await expectLimitsHold(service, {
      async strike() {
        await server.kill();
        rmSync(join(dir, "appendonlydir"), { recursive: true });
      },
      heal: () => server.restart(),
    });
    expect(lost).to.be.above(0);
  });

  it("becomes a read-only replica", async () => {
    await expectExactLimits(service, {
      strike: () => operator.replicaof("127.0.0.1", 1),
      heal: () => operator.replicaof("NO", "ONE"),
    });
  });

  it("is out of memory", async () => {
    await expectExactLimits(service, {
      strike: () => operator.config("SET", "maxmemory", 1),
      heal: () => operator.config("SET", "maxmemory", 0),
    });
  });
});

describe(`the limits of ${REPLICAS} replicas hold while Redis, at the edge of a window,`, function () {
  this.timeout(90_000);
  const server = useRedisServer();
  const service = useReplicasOver(server, { LIMIT_WINDOW_SECONDS: SHORT_WINDOW_SECONDS });

  it("is paused", async () => {
    await expectExactLimits(service, {
      strike: () => server.pause(),
      heal: () => server.resume(),
      whileIdle: true,
      acrossWindowEdge: true,
    });
  });
});

describe(`the limits of ${REPLICAS} replicas hold, and no request fails, while Redis`, function () {
  this.timeout(90_000);
  const server = useRedisServer();
  // With the time that the other faults are given, a busy machine alone would make some charges too late.
  const service = useReplicasOver(server, { LIMITER_TIMEOUT_MS: 5_000 });

  it("has its scripts flushed repeatedly", async () => {
    const operator = await connectRedis({ url: server.url, timeoutMs: 5_000 });
    let flushing: NodeJS.Timeout;
    const { unavailable } = await expectExactLimits(service, {
      strike: () => (flushing = setInterval(() => void operator.script("FLUSH"), 20)),
      heal: () => clearInterval(flushing),
      mayGoUnnoticed: true,
    });
    operator.disconnect();
    expect(unavailable).to.deep.equal([]);
  });
});
