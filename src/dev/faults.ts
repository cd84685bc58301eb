/**
 * `npm run test:faults`: starts Redis and MongoDB as `npm test` does, runs the fault suite against them, one file after the
 * other, and ends with a table of what was broken and what held. Arguments are passed to mocha. Without a path or pattern
 * among them, the whole suite runs and the table is also written to test/faults/RESULTS.md. `npm run test:soak` passes the
 * path of the soak test.
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { MongoClient } from "mongodb";
import { runChild } from "./child.ts";
import { dataDirOf, toolsIn } from "./data-dir.ts";
import { explain, say } from "./output.ts";
import { type Servers, ensureServers } from "./servers.ts";
import { type StopSignals, listenForStop } from "./stop-signals.ts";

const SUITE = ["test/faults/**/*.test.ts", "--ignore", "test/faults/soak/**"];
const TABLE = ["--reporter-option", "table=test/faults/RESULTS.md"];
/** Arguments of mocha that select some of the tests. */
const SELECTS_TESTS = /^(-g|-f|--grep|--fgrep)\b/;
/**
 * Fault tests disturb each other, so they run one at a time. `--exit` ends mocha even if a test that timed out is still
 * working in the background.
 */
const ONE_BY_ONE = ["--no-parallel", "--exit", "--reporter", "test/faults/reporter.ts"];

/** @returns mocha's exit code: the number of failures. */
async function faults(args: string[], { stopping }: StopSignals): Promise<number> {
  const dataDir = await mkdtemp(join(tmpdir(), "onboarding-faults-"));
  try {
    const tools = toolsIn(dataDirOf(process.env));
    const servers = await ensureServers({ dataDir, tools, env: process.env, signal: stopping });
    try {
      const env = {
        ...process.env,
        REDIS_URL: servers.redisUrl,
        MONGODB_URL: servers.mongodbUrl,
        TMPDIR: dataDir, // so that the temporary files of interrupted tests are removed below
        FAULTS_OUTCOMES: join(dataDir, "outcomes.jsonl"),
        FAULTS_SERVERS: await versions(servers),
      };
      const table = args.some((arg) => SELECTS_TESTS.test(arg)) ? [] : TABLE;
      const selection = args.some((arg) => existsSync(arg)) ? args : [...SUITE, ...table, ...args];
      const mocha = runChild("node_modules/mocha/bin/mocha.js", [...ONE_BY_ONE, ...selection], {
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

async function versions({ redisUrl, mongodbUrl }: Servers): Promise<string> {
  const redis = new Redis(redisUrl);
  const mongo = new MongoClient(mongodbUrl);
  try {
    const [, version = "unknown"] = /^redis_version:(\S+)/m.exec(await redis.info("server")) ?? [];
    const build = await mongo.db("admin").command({ buildInfo: 1 });
    return `Redis ${version}, MongoDB ${String(build["version"])}`;
  } finally {
    redis.disconnect();
    await mongo.close();
  }
}

const signals = listenForStop();
let code = 1;
try {
  code = await faults(process.argv.slice(2), signals);
} catch (error) {
  if (!signals.stopping.aborted) say(explain(error));
}
process.exit(signals.stopping.aborted ? 1 : code);
