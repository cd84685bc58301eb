/**
 * `npm test`: starts a Redis and a MongoDB with nothing in them, runs mocha against them, and removes them. Arguments go to
 * mocha; without a path among them, all that is quick enough for every change is run.
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
      // Tests that are cut short leave their temporary files to us.
      const env = { ...process.env, REDIS_URL: servers.redisUrl, MONGODB_URL: servers.mongodbUrl, TMPDIR: dataDir };
      const jobs = ["--parallel", "--jobs", `${availableParallelism()}`];
      const what = args.some((arg) => existsSync(arg)) ? args : [...EVERY_CHANGE, ...args];
      // Cut short, mocha's parallel runner trips over itself, so it is not asked but ended, with all that tests have started.
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
