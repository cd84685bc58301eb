import { expect } from "chai";
import { Metrics } from "../../src/infra/metrics.ts";
import { type RedisClient, unlessForbidden } from "../../src/infra/redis.ts";
import { memoryCheck } from "../../src/infra/redis-memory.ts";
import { Scrape, scrape } from "../support/metrics.ts";
import { useRedisClient, useRedisServer } from "../support/servers.ts";
import { useOwnService } from "../support/use-service.ts";

const MAX_BYTES = 16 * 1024 ** 2;
/** The number of the level in the log. */
const ERROR = 50;

describe("a Redis that would delete limits, or refuse writes soon,", () => {
  const server = useRedisServer({ args: ["--maxmemory", `${MAX_BYTES}`, "--maxmemory-policy", "volatile-lru"] });
  const redis = useRedisClient(server);
  const service = useOwnService(() => ({ REDIS_URL: server.url }));

  /** Reads the state again and again as a process does, and returns what the metrics show and what was logged. */
  function watched() {
    const said: string[] = [];
    const metrics = new Metrics();
    const log = {
      warn: (_: object, message: string) => said.push(`warn ${message}`),
      error: (_: object, message: string) => said.push(`error ${message}`),
    };
    const checkMemory = memoryCheck({ redis, metrics, log });
    const check = async () => {
      await checkMemory();
      const shown = new Scrape(await metrics.registry.metrics());
      return ["redis_maxmemory_policy_unsafe", "redis_memory_nearly_full"].map((name) => shown.value(name));
    };
    return { check, said };
  }

  it("is an error in the log and in the metrics of a process as soon as it has started", async () => {
    const unsafe = async () => (await scrape(service)).value("redis_maxmemory_policy_unsafe");
    while ((await unsafe()) !== 1);
    expect(service.log.filter(({ level }) => level === ERROR).map(({ msg }) => msg)).to.deep.equal([
      "Redis evicts limits when it is full, so clients may be admitted twice: set maxmemory-policy to noeviction",
    ]);
  });

  it("is told when its policy changes, once for each change", async () => {
    const { check, said } = watched();
    for (const policy of ["noeviction", "allkeys-lfu", "allkeys-lfu", "noeviction", "volatile-ttl"]) {
      await redis.config("SET", "maxmemory-policy", policy);
      expect(await check(), policy).to.deep.equal([policy === "noeviction" ? 0 : 1, 0]);
    }
    expect(said).to.have.lengthOf(2);
    expect(said.join()).to.match(/^error Redis evicts limits/);
  });

  it("is told once it has used more than 90 % of its memory, before it refuses a write", async () => {
    await redis.config("SET", "maxmemory-policy", "noeviction");
    const { check, said } = watched();
    expect(await check()).to.deep.equal([0, 0]);
    while ((await check())[1] === 0) await redis.rpush("ballast", Buffer.alloc(100_000));
    await redis.rpush("ballast", "one more");
    await check();
    expect(said).to.have.lengthOf(1);
    expect(said[0]).to.match(/^error Redis has used more than 90 %/);
    await redis.del("ballast");
    expect(await check()).to.deep.equal([0, 0]);
  });
});

describe("What is shown of the memory of a cluster's masters", () => {
  const GAUGES = [
    "redis_memory_used_bytes",
    "redis_memory_max_bytes",
    "redis_maxmemory_policy_unsafe",
    "redis_memory_nearly_full",
  ];

  /** @param masters what INFO tells of each: used_memory, maxmemory and, if it tells, maxmemory_policy. */
  async function shown(masters: readonly (readonly [used: number, max: number, policy?: string])[]) {
    const nodes = masters.map(([used, max, policy]) => {
      const lines = [`used_memory:${used}`, `maxmemory:${max}`, ...(policy ? [`maxmemory_policy:${policy}`] : [])];
      return { info: () => Promise.resolve(lines.join("\r\n")) };
    });
    const redis = { isCluster: true, nodes: () => nodes } as unknown as RedisClient;
    const metrics = new Metrics();
    const log = { warn: () => undefined, error: () => undefined };
    await memoryCheck({ redis, metrics, log })();
    const scraped = new Scrape(await metrics.registry.metrics());
    return GAUGES.map((name) => scraped.value(name));
  }

  for (const [title, masters, expected] of [
    [
      "the fullest",
      [
        [10, 1_000, "noeviction"],
        [50, 100, "noeviction"],
      ],
      [50, 100, 0, 0],
    ],
    [
      "90 %",
      [
        [10, 1_000, "noeviction"],
        [90, 100, "noeviction"],
      ],
      [90, 100, 0, 0],
    ],
    [
      "more than 90 %",
      [
        [10, 1_000, "noeviction"],
        [91, 100, "noeviction"],
      ],
      [91, 100, 0, 1],
    ],
    ["no limit", [[10, 0, "noeviction"]], [10, 0, 0, 0]],
    [
      "one that evicts",
      [
        [10, 100, "noeviction"],
        [10, 100, "volatile-ttl"],
      ],
      [10, 100, 1, 0],
    ],
    ["one that evicts, and so refuses nothing", [[95, 100, "volatile-lru"]], [95, 100, 1, 0]],
    [
      "one that does not tell",
      [
        [10, 100, "noeviction"],
        [5, 100],
      ],
      [10, 100, NaN, 0],
    ],
  ] as const)
    it(`follows ${title}`, async () => {
      expect(await shown(masters)).to.deep.equal(expected);
    });
});

describe("An error of INFO", () => {
  it("is forgiven only if the user may not run it", () => {
    expect(unlessForbidden(new Error("NOPERM User ann has no permissions to run the 'info' command"))).to.deep.equal(
      [],
    );
    expect(() => unlessForbidden(new Error("LOADING Redis is loading"))).to.throw("LOADING");
  });
});
