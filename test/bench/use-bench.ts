import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bench, openBench } from "./bench.ts";
import { build } from "./build.ts";
import { startRedis, type TestServer } from "../support/servers.ts";

const { MONGODB_URL: mongodbUrl = "" } = process.env;

/** The shortest run there is. Its figures mean nothing. */
export const OPTIONS = {
  slice: 0.05,
  warmUp: 0.05,
  rounds: 5,
  maxRounds: 5,
  memoryMinutes: 0,
  steadyPages: 2,
  edge: { accounts: 20, seconds: 1 },
  reminders: { due: 20, seconds: 1 },
};

/**
 * Opens a bench on the MongoDB of the test run and on a Redis of its own, whose commands it counts. Closes it after the tests
 * of the `describe` that calls this.
 */
export function useBench(): () => Bench {
  let redis: TestServer;
  let folder: string;
  let bench: Bench;

  before(async () => {
    redis = await startRedis();
    folder = await mkdtemp(join(tmpdir(), "bench-"));
    const { signal } = new AbortController();
    const dist = await build(await mkdtemp(join(folder, "build-")));
    bench = await openBench({ redisUrl: redis.url, mongodbUrl }, { dist, folder, options: OPTIONS, signal });
  });

  after(async () => {
    await bench.close();
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  });

  return () => bench;
}
