import { EventEmitter, once } from "node:events";
import { expect } from "chai";
import { Health } from "../../src/infra/health.ts";
import { Metrics } from "../../src/infra/metrics.ts";
import type { Mongo } from "../../src/infra/mongo.ts";
import type { RedisClient } from "../../src/infra/redis.ts";
import { Scrape } from "../support/metrics.ts";

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
    const health = new Health({
      mongo: { bounded: () => Promise.resolve() } as unknown as Mongo,
      redis: redis as unknown as RedisClient,
      metrics,
      servesWithoutRedis: false,
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
