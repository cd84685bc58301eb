import { expect } from "chai";
import { SharedClock } from "../../src/infra/clock.ts";
import { clockWatch } from "../../src/infra/clock-watch.ts";
import { Metrics } from "../../src/infra/metrics.ts";
import type { Mongo } from "../../src/infra/mongo.ts";
import { connectRedis, type RedisClient } from "../../src/infra/redis.ts";
import { until } from "../erasure/support.ts";
import { startShiftedRedis, type ShiftedRedis } from "../support/shifted-redis.ts";
import { useDatabase } from "../support/use-service.ts";

const CHECK_EVERY_MS = 20;

describe("the three clocks that the service compares", () => {
  const mongo = useDatabase();
  let server: ShiftedRedis;
  let redis: RedisClient;
  let metrics: Metrics;
  let lines: { level: string; clock?: string; seconds: number }[];
  let started: ReturnType<typeof clockWatch>[];
  before(async () => {
    server = await startShiftedRedis(process.env.REDIS_URL!);
    redis = await connectRedis({ url: server.url, timeoutMs: 5_000 });
  });
  after(() => {
    redis.disconnect();
    server.close();
  });
  beforeEach(() => {
    server.ahead = 0;
    metrics = new Metrics();
    lines = [];
    started = [];
  });
  afterEach(() => started.forEach((each) => each.stop()));

  function through(bounded: Mongo["bounded"]): Mongo {
    const { client, db } = mongo;
    return { client, db, bounded, isLate: () => false, close: () => mongo.close() };
  }

  /** MongoDB, with a clock that is so many seconds ahead. */
  function mongoAhead(seconds: () => number): Mongo {
    const bounded = (async (_name, operation) => {
      const found = await mongo.bounded("ping admin", operation);
      const { localTime } = found as { localTime: Date };
      return { localTime: new Date(localTime.getTime() + seconds() * 1000) };
    }) as Mongo["bounded"];
    return through(bounded);
  }

  async function start(store: Mongo = mongo, checkEveryMs = CHECK_EVERY_MS): Promise<SharedClock> {
    const clock = new SharedClock();
    const note = (level: string) => (fields: object) => lines.push({ level, ...(fields as { seconds: number }) });
    const log = { info: note("info"), warn: note("warn") } as unknown as Parameters<typeof clockWatch>[0]["log"];
    const watch = clockWatch({ clock, redis, mongo: store, log, metrics, checkEveryMs });
    started.push(watch);
    await watch.start();
    return clock;
  }

  const aheadOf = (clock: SharedClock) => Math.round((clock.now() - Date.now()) / 1000);
  async function offset(name: string): Promise<number> {
    const text = await metrics.registry.getSingleMetricAsString("clock_offset_seconds");
    return Math.round(Number(new RegExp(`clock="${name}"} (.*)`).exec(text)?.[1]));
  }

  it("are not followed while one is wrong alone, Redis's from the start: that is said, and shown in a metric", async () => {
    server.ahead = 300;
    const clock = await start();
    expect(aheadOf(clock)).to.equal(0);
    expect(Math.round((clock.redis.now() - clock.now()) / 1000), "Redis's own clock").to.equal(300);
    expect(await offset("redis")).to.equal(300);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ level: "warn", clock: "redis" });
    server.ahead = 0;
    await until(async () => (await offset("redis")) === 0);
    expect(lines.at(-1)).to.include({ level: "info", clock: "redis" });
  });

  for (const seconds of [7, 300, -7, -300]) {
    it(`are not followed when Redis's steps by ${seconds} s while the service runs`, async () => {
      const clock = await start();
      server.ahead = seconds;
      await until(async () => (await offset("redis")) === seconds);
      expect(aheadOf(clock)).to.equal(0);
    });
  }

  it("are looked at as soon as a reply shows a step, and not at each such reply", async () => {
    const clock = await start(mongo, 600_000);
    let checks = 0;
    const time = redis.time.bind(redis);
    redis.time = () => (checks++, time());
    server.ahead = 300;
    for (let n = 0; n < 10; n++) clock.follow(Date.now() + 300_000 - performance.now());
    expect(checks, "within a second of the first look").to.equal(0);
    await until(() => {
      clock.follow(Date.now() + 300_000 - performance.now());
      return checks > 0;
    });
    await until(async () => (await offset("redis")) === 300);
    expect(checks).to.equal(1);
    delete (redis as Partial<RedisClient>).time;
  });

  it("move the service's clock when two of them step, ahead and back", async () => {
    let ofMongo = 0;
    const clock = await start(mongoAhead(() => ofMongo));
    [server.ahead, ofMongo] = [300, 301];
    await until(() => aheadOf(clock) === 300);
    expect(await offset("replica"), "this machine's clock is the one that disagrees").to.equal(-300);
    [server.ahead, ofMongo] = [0, 0];
    await until(() => aheadOf(clock) === 0);
    const steps = lines.filter(({ clock }) => clock === undefined).map(({ seconds }) => Math.round(seconds));
    expect(steps).to.deep.equal([300, -300]);
  });

  it("leave out a server that does not respond", async () => {
    const clock = await start(through(() => Promise.reject(new Error("No reply."))));
    server.ahead = 300;
    await until(async () => (await offset("redis")) === 300);
    expect(aheadOf(clock)).to.equal(0);
  });
});
