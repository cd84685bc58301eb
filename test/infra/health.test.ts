import { EventEmitter, once } from "node:events";
import { mock } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { healthChecks } from "../../src/infra/health.ts";
import { Metrics } from "../../src/infra/metrics.ts";
import type { Limits, Mongo } from "../../src/infra/mongo.ts";
import type { RedisClient } from "../../src/infra/redis.ts";
import { Scrape } from "../support/metrics.ts";
import { useNoService } from "../support/use-service.ts";

const log = { warn: () => undefined, error: () => undefined };

describe("how full Redis is", () => {
  interface Memory {
    readonly used: number;
    readonly max: number;
  }

  /** Returns what the metrics show of a Redis that has this memory: one server, or the masters of a cluster. */
  async function shown(memory: Memory | readonly Memory[]) {
    const asked = new EventEmitter();
    const node = ({ used, max }: Memory) => ({
      info: (section: string) => {
        setImmediate(() => asked.emit("asked", section));
        return Promise.resolve(`# Memory\r\nused_memory:${used}\r\nused_memory_rss:1\r\nmaxmemory:${max}\r\n`);
      },
    });
    const ping = () => Promise.resolve("PONG");
    const redis = Array.isArray(memory)
      ? { isCluster: true, ping, nodes: (role: string) => (role === "master" ? memory.map(node) : []) }
      : { isCluster: false, ping, ...node(memory as Memory) };
    const metrics = new Metrics();
    const health = healthChecks({
      mongo: { bounded: () => Promise.resolve() } as unknown as Mongo,
      redis: redis as unknown as RedisClient,
      metrics,
      log,
    });
    health.watch();
    expect(await once(asked, "asked")).to.deep.equal(["memory"]);
    health.stop();
    const scrape = new Scrape(await metrics.registry.metrics());
    return { used: scrape.value("redis_memory_used_bytes"), max: scrape.value("redis_memory_max_bytes") };
  }

  it("is read from the one server", async () => {
    expect(await shown({ used: 10, max: 0 })).to.deep.equal({ used: 10, max: 0 });
    expect(await shown({ used: 10, max: 40 })).to.deep.equal({ used: 10, max: 40 });
  });

  it("is that of the fullest master of a cluster, whatever their sizes and their order", async () => {
    const [small, large, open] = [
      { used: 8, max: 10 },
      { used: 30, max: 100 },
      { used: 900, max: 0 },
    ];
    expect(await shown([small, large, open])).to.deep.equal(small);
    expect(await shown([open, large, small])).to.deep.equal(small);
    expect(await shown([open, large])).to.deep.equal(large);
  });
});

describe("whether the servers respond", () => {
  useNoService();
  const down = () => Promise.reject(new RangeError("down"));

  function healthOf({ redisUp = true, mongoUp = true, mongoHangs = false } = {}) {
    let pings = 0;
    const commands: unknown[] = [];
    const limits: Limits = { signal: AbortSignal.abort(), maxTimeMS: 700, ignoreUndefined: true };
    const mongo = {
      bounded: (_name: string, work: (limits: Limits) => unknown) =>
        mongoHangs ? new Promise(() => undefined) : mongoUp ? work(limits) : down(),
      db: { command: (...command: unknown[]) => Promise.resolve(commands.push(command)) },
    };
    const metrics = new Metrics();
    const redis = {
      ping: () => (pings++, redisUp ? Promise.resolve("PONG") : down()),
      info: () => (redisUp ? Promise.resolve("used_memory:1") : down()),
    };
    const health = healthChecks({
      mongo: mongo as unknown as Mongo,
      redis: redis as unknown as RedisClient,
      metrics,
      log,
    });
    const scraped = async () => new Scrape(await metrics.registry.metrics());
    return { health, scraped, pings: () => pings, commands, limits };
  }

  it("is told of each", async () => {
    const faults = (redisUp: boolean, mongoUp: boolean) => healthOf({ redisUp, mongoUp }).health.faults();
    const [redis, mongo] = ["redis does not answer", "mongodb does not answer"];
    expect(await faults(true, true)).to.deep.equal([]);
    expect(await faults(false, true)).to.deep.equal([redis]);
    expect(await faults(true, false)).to.deep.equal([mongo]);
    expect(await faults(false, false)).to.deep.equal([redis, mongo]);
  });

  it("is asked with one ping each. MongoDB gives it up after the time limit", async () => {
    const { health, pings, commands, limits } = healthOf();
    await health.faults();
    expect(pings()).to.equal(1);
    expect(commands).to.deep.equal([[{ ping: 1, maxTimeMS: 700 }, limits]]);
  });

  it("is in the metrics for each of them", async () => {
    const { health, scraped } = healthOf({ mongoUp: false });
    await health.faults();
    const up = async (db_system_name: string) => (await scraped()).value("dependency_up", { db_system_name });
    expect([await up("redis"), await up("mongodb")]).to.deep.equal([1, 0]);
  });

  it("is in the metrics of one while the other's ping is still under way", async () => {
    const { health, scraped } = healthOf({ mongoHangs: true });
    void health.faults();
    await turn();
    expect((await scraped()).value("dependency_up", { db_system_name: "redis" })).to.equal(1);
  });

  for (const [redisUp, error_type] of [
    [true, ""],
    [false, "RangeError"],
  ] as const)
    it(`is asked every five seconds until it is stopped, and timed, if Redis is ${redisUp ? "up" : "down"}`, async () => {
      mock.timers.enable({ apis: ["setTimeout"] });
      try {
        const { health, scraped, pings } = healthOf({ redisUp });
        const counts: number[] = [];
        const after = async (ms: number) => {
          mock.timers.tick(ms);
          await turn();
          counts.push(pings());
        };
        health.watch();
        for (const ms of [0, 4_999, 1, 4_999, 1]) await after(ms);
        mock.timers.tick(5_000);
        health.stop(); // during a check
        await turn();
        await after(5_000);
        expect(counts).to.deep.equal([1, 1, 2, 2, 3, 4]);
        const scrape = await scraped();
        for (const db_operation_name of ["ping", "info"]) {
          const labels = { db_system_name: "redis", db_operation_name, error_type };
          expect(scrape.value("db_client_operation_duration_seconds_count", labels), db_operation_name).to.equal(4);
        }
        if (redisUp) expect(scrape.value("redis_memory_max_bytes")).to.equal(0);
      } finally {
        mock.timers.reset();
      }
    });
});
