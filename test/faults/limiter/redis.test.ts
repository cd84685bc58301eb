import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { connectRedis, type RedisClient } from "../../../src/infra/redis.ts";
import { startRedis } from "../../support/servers.ts";
import { useStarted } from "../../support/use-started.ts";
import { endure, endureExactly, REPLICAS, useReplicasOver } from "./expectations.ts";

describe(`the limits of ${REPLICAS} replicas hold while Redis`, function () {
  this.timeout(90_000);
  let dir: string;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "onboarding-redis-"));
  });
  // Written at each turn of its event loop, as by default, but never put off while the disk is busy.
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
    await endureExactly(service, "Redis is paused for 2 s (SIGSTOP)", {
      strike: () => server.pause(),
      heal: () => server.resume(),
      quietly: true,
    });
  });

  it("is paused across a window's edge", async () => {
    await endureExactly(service, "Redis is paused for 2 s, across a window's edge", {
      strike: () => server.pause(),
      heal: () => server.resume(),
      quietly: true,
      acrossAnEdge: true,
    });
  });

  it("is stopped, and started with its data", async () => {
    const fault = { strike: () => server.stop(), heal: () => server.restart(), quietly: true };
    await endureExactly(service, "Redis is stopped and started with its data", fault);
  });

  // Redis ends in good order in the same turn of its event loop in which it may just have run a charge, and sends no answer then.
  for (const [how, ending] of [
    ["stopped under load", () => server.stop()],
    ["killed", () => server.kill()],
  ] as const) {
    it(`is ${how}, and started with its data`, async () => {
      const names = {
        fault: `Redis is ${how} and started with its data`,
        held: "exact in what its append-only file kept; 503 in time; well in 2 s",
      };
      const { numbers } = await endure(service, names, { strike: ending, heal: () => server.restart() });
      expect(numbers.lost).to.equal(0);
    });
  }

  it("is killed, and started without its data", async () => {
    const names = {
      fault: "Redis is killed and started without its data",
      held: "the limit anew, and exact, after what was forgotten; 503 in time; well in 2 s",
    };
    const { numbers } = await endure(service, names, {
      async strike() {
        await server.kill();
        rmSync(join(dir, "appendonlydir"), { recursive: true });
      },
      heal: () => server.restart(),
    });
    expect(numbers.lost).to.be.above(0);
  });

  it("is a read-only replica", async () => {
    await endureExactly(service, "Redis is made a read-only replica for 2 s", {
      strike: () => operator.replicaof("127.0.0.1", 1),
      heal: () => operator.replicaof("NO", "ONE"),
    });
  });

  it("is out of memory", async () => {
    await endureExactly(service, "Redis is out of memory for 2 s", {
      strike: () => operator.config("SET", "maxmemory", 1),
      heal: () => operator.config("SET", "maxmemory", 0),
    });
  });

  it("has its scripts flushed, again and again", async () => {
    let flushing: NodeJS.Timeout;
    const { numbers } = await endureExactly(service, "SCRIPT FLUSH every 20 ms for 2 s", {
      strike: () => (flushing = setInterval(() => void operator.script("FLUSH"), 20)),
      heal: () => clearInterval(flushing),
      painless: true,
    });
    expect(numbers.unavailable).to.equal(0);
  });
});
