import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { connectRedis, type RedisClient } from "../../../src/infra/redis.ts";
import { startRedis, useRedisServer } from "../../support/servers.ts";
import { useStarted } from "../../support/use-started.ts";
import { expectLimitsHold, expectExactLimits, REPLICAS, useReplicasOver } from "./expectations.ts";

describe(`the limits of ${REPLICAS} replicas hold while Redis`, function () {
  this.timeout(90_000);
  let dir: string;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "onboarding-redis-"));
  });
  // As by default, Redis writes its append-only file in each turn of its event loop. Without fsync, a busy disk never
  // delays that write.
  const server = useStarted(
    "The Redis server",
    () => startRedis({ dir, args: ["--appendfsync", "no"] }),
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
    await expectExactLimits(service, "Redis is paused for 2 s (SIGSTOP)", {
      strike: () => server.pause(),
      heal: () => server.resume(),
      whileIdle: true,
    });
  });

  it("is paused across a window's edge", async () => {
    await expectExactLimits(service, "Redis is paused for 2 s, across a window's edge", {
      strike: () => server.pause(),
      heal: () => server.resume(),
      whileIdle: true,
      acrossWindowEdge: true,
    });
  });

  it("is stopped and restarted with its data", async () => {
    const fault = { strike: () => server.stop(), heal: () => server.restart(), whileIdle: true };
    await expectExactLimits(service, "Redis is stopped and restarted with its data", fault);
  });

  // Redis shuts down within a turn of its event loop. A charge that ran in that same turn counts but gets no answer.
  for (const [how, ending] of [
    ["stopped under load", () => server.stop()],
    ["killed", () => server.kill()],
  ] as const) {
    it(`is ${how} and restarted with its data`, async () => {
      const names = {
        fault: `Redis is ${how} and restarted with its data`,
        held: "exact, given what the append-only file kept; 503 in time; recovered in 2 s",
      };
      const { numbers } = await expectLimitsHold(service, names, { strike: ending, heal: () => server.restart() });
      expect(numbers.lost).to.equal(0);
    });
  }

  it("is killed and restarted without its data", async () => {
    const names = {
      fault: "Redis is killed and restarted without its data",
      held: "exact, counting from zero after the loss; 503 in time; recovered in 2 s",
    };
    const { numbers } = await expectLimitsHold(service, names, {
      async strike() {
        await server.kill();
        rmSync(join(dir, "appendonlydir"), { recursive: true });
      },
      heal: () => server.restart(),
    });
    expect(numbers.lost).to.be.above(0);
  });

  it("becomes a read-only replica", async () => {
    await expectExactLimits(service, "Redis becomes a read-only replica for 2 s", {
      strike: () => operator.replicaof("127.0.0.1", 1),
      heal: () => operator.replicaof("NO", "ONE"),
    });
  });

  it("is out of memory", async () => {
    await expectExactLimits(service, "Redis is out of memory for 2 s", {
      strike: () => operator.config("SET", "maxmemory", 1),
      heal: () => operator.config("SET", "maxmemory", 0),
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
    const { numbers } = await expectExactLimits(service, "SCRIPT FLUSH every 20 ms for 2 s", {
      strike: () => (flushing = setInterval(() => void operator.script("FLUSH"), 20)),
      heal: () => clearInterval(flushing),
      mayGoUnnoticed: true,
    });
    operator.disconnect();
    expect(numbers.unavailable).to.equal(0);
  });
});
