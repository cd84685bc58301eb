import type { Logger } from "pino";
import { Gauge } from "prom-client";
import { MAX_STEP_MS, PROMPT_MS, type SharedClock } from "./clock.ts";
import type { Metrics } from "./metrics.ts";
import type { Mongo } from "./mongo.ts";
import { clockTime } from "./redis-connections.ts";
import type { RedisClient } from "./redis.ts";

const CHECK_EVERY_MS = 10_000;
/** Minimum time between two checks, in milliseconds. */
const MIN_PAUSE_MS = 1_000;

const NAMES = ["redis", "mongodb", "replica"] as const;
type Name = (typeof NAMES)[number];

export interface ClockWatchOptions {
  readonly clock: SharedClock;
  readonly redis: RedisClient;
  readonly mongo: Mongo;
  readonly log: Pick<Logger, "info" | "warn">;
  readonly metrics: Pick<Metrics, "registry">;
  readonly checkEveryMs?: number;
}

/**
 * Keeps one wrong clock from becoming the service's. Compares Redis's clock, MongoDB's and that of this machine. The service
 * follows Redis's while that is right, and otherwise the one in the middle. In place of a server that does not respond, the
 * service's own clock counts.
 */
export function clockWatch({ clock, redis, mongo, log, metrics, checkEveryMs = CHECK_EVERY_MS }: ClockWatchOptions) {
  const wrong = new Set<Name>();
  const offset = new Gauge({
    registers: [metrics.registry],
    name: "clock_offset_seconds",
    help: "Difference of the clock of Redis, of MongoDB or of the replica's machine from the service's clock. Positive if ahead.",
    labelNames: ["clock"],
    aggregator: "average",
  });
  let checkedAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;

  /** Sets the clock. From then on checks it every 10 s, and when Redis's clock has stepped. Never fails. */
  async function start(): Promise<void> {
    await check();
    timer = setInterval(() => void check(), checkEveryMs).unref();
    clock.onStep = () => {
      if (timer !== undefined && performance.now() > checkedAt + MIN_PAUSE_MS) void check();
    };
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  async function check(): Promise<void> {
    checkedAt = performance.now();
    const [ofRedis, ofMongo] = await Promise.all([asked(() => clockTime(redis)), asked(() => localTimeOf(mongo))]);
    const at = performance.now();
    if (ofRedis !== undefined) clock.saw(ofRedis);
    const own = clock.now() - at;
    const offsets = { redis: ofRedis, mongodb: ofMongo, replica: Date.now() - at };
    const middle = NAMES.map((name) => offsets[name] ?? own).toSorted((one, other) => one - other)[1] ?? own;
    const followsRedis = ofRedis !== undefined && Math.abs(ofRedis - middle) <= MAX_STEP_MS;
    const right = followsRedis ? ofRedis : middle;
    const step = clock.set(right);
    if (Math.abs(step) > MAX_STEP_MS)
      log.warn({ seconds: step / 1000 }, "the service's clock has stepped: two of three clocks show it");
    for (const name of NAMES) compare(name, (offsets[name] ?? own) - right);
  }

  function compare(name: Name, aheadMs: number): void {
    offset.set({ clock: name }, aheadMs / 1000);
    const isWrong = Math.abs(aheadMs) > MAX_STEP_MS;
    if (isWrong === wrong.has(name)) return;
    const fields = { clock: name, seconds: aheadMs / 1000 };
    if (isWrong) {
      wrong.add(name);
      log.warn(fields, "a clock is wrong: the two others disagree with it, so the service does not follow it");
    } else {
      wrong.delete(name);
      log.info(fields, "the clock is right again");
    }
  }

  return { start, stop };
}

/** Returns a server's clock minus `performance.now()`, in milliseconds. Undefined if it did not reply promptly. */
async function asked(time: () => Promise<number>): Promise<number | undefined> {
  const sent = performance.now();
  const epochMs = await time().catch(() => undefined);
  const received = performance.now();
  return epochMs === undefined || received - sent > PROMPT_MS ? undefined : epochMs - (sent + received) / 2;
}

/** Returns the primary's clock, which `hello` tells, in milliseconds since the epoch. */
export async function localTimeOf(mongo: Mongo): Promise<number> {
  const { localTime } = await mongo.bounded("ping admin", (limits) => mongo.db.admin().command({ hello: 1 }, limits));
  return (localTime as Date).getTime();
}
