/**
 * `npm test`: starts an empty Redis and an empty MongoDB, runs mocha against them, and removes them. Arguments are passed to
 * mocha. Without a path among them, all tests run except those that are too slow for every change.
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { runChild } from "./child.ts";
import { dataDirOf, toolsIn } from "./data-dir.ts";
import { explain, say } from "./output.ts";
import { ensureServers } from "./servers.ts";
import { type StopSignals, listenForStop } from "./stop-signals.ts";

const EVERY_CHANGE = [
  "test/**/*.test.ts",
  ...["exactness", "faults", "load", "bench"].flatMap((slow) => ["--ignore", `test/${slow}/**`]),
];

/** @returns mocha's exit code: the number of failures. */
async function test(args: string[], { stopping }: StopSignals): Promise<number> {
  const dataDir = await mkdtemp(join(tmpdir(), "onboarding-test-"));
  try {
    const tools = toolsIn(dataDirOf(process.env));
    const servers = await ensureServers({ dataDir, tools, env: process.env, signal: stopping });
    try {
      // TMPDIR makes interrupted tests leave their temporary files in `dataDir`, which is removed below.
      const env = { ...process.env, REDIS_URL: servers.redisUrl, MONGODB_URL: servers.mongodbUrl, TMPDIR: dataDir };
      const jobs = ["--parallel", "--jobs", `${availableParallelism()}`];
      const what = args.some((arg) => existsSync(arg)) ? args : [...EVERY_CHANGE, ...args];
      // mocha's parallel runner does not stop cleanly on a signal, so it is killed together with all processes of the tests.
      const mocha = runChild("node_modules/mocha/bin/mocha.js", [...jobs, ...what], {
        stopping,
        forced: stopping,
        env,
        stopWith: "SIGKILL",
      });
      return (await mocha.exited) ?? 1;
    } finally {
      await servers.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

const signals = listenForStop();
let code = 1;
try {
  code = await test(process.argv.slice(2), signals);
} catch (error) {
  if (!signals.stopping.aborted) say(explain(error));
}
process.exit(signals.stopping.aborted ? 1 : code);
