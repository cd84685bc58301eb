/**
 * `npm run test:faults`: starts a Redis and a MongoDB as `npm test` does, runs the fault suite against them, one file after
 * the other, and ends with a table of what was broken and what held. Arguments go to mocha. A run of the whole suite, with
 * neither a path nor a pattern among them, writes the table to test/faults/RESULTS.md. `npm run test:soak` passes the path of the soak.
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
/** Arguments of mocha that leave tests out. */
const PART = /^(-g|-f|--grep|--fgrep)\b/;
/** They stand in each other's way on purpose, so never two at once; one that ran out of time may go on in the background. */
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
        TMPDIR: dataDir, // tests that are cut short leave their temporary files to us
        FAULTS_OUTCOMES: join(dataDir, "outcomes.jsonl"),
        FAULTS_SERVERS: await versions(servers),
      };
      const table = args.some((arg) => PART.test(arg)) ? [] : TABLE;
      const what = args.some((arg) => existsSync(arg)) ? args : [...SUITE, ...table, ...args];
      const mocha = runChild("node_modules/mocha/bin/mocha.js", [...ONE_BY_ONE, ...what], {
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
