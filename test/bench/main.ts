/**
 * `npm run bench`: measures the service beside other limiters and against its own bounds, and prints tables. Starts an empty
 * Redis and an empty MongoDB, as `npm test` does. README.md says what it measures, and has the figures of the last run.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { dataDirOf, toolsIn } from "../../src/dev/data-dir.ts";
import { explain, say, SetupError } from "../../src/dev/output.ts";
import { ensureServers } from "../../src/dev/servers.ts";
import { exitWith } from "../support/exit-with.ts";
import { type Bench, openBench, type Options } from "./bench.ts";
import { build } from "./build.ts";
import { withRows } from "./readme.ts";
import { exitCodeOf, notMeasured, type Section, textOf } from "./report.ts";
import { besideRows } from "./rows/beside.ts";
import { bulkRows } from "./rows/bulk.ts";
import { limiterRows } from "./rows/limiter.ts";
import { limiterSizeRows } from "./rows/limiter-size.ts";
import { listRows } from "./rows/list.ts";
import { memoryRows } from "./rows/memory.ts";
import { readRows } from "./rows/read.ts";
import { reminderRows } from "./rows/reminders.ts";
import { sizeRows } from "./rows/sizes.ts";
import { startRows } from "./rows/start.ts";
import { steadyRows } from "./rows/steady.ts";

const PARTS: Record<string, (bench: Bench) => Promise<Section>> = {
  limiter: (bench) => limiterRows(bench),
  "limiter-size": limiterSizeRows,
  list: listRows,
  steady: steadyRows,
  read: readRows,
  start: startRows,
  bulk: bulkRows,
  sizes: (bench) => sizeRows(bench, 10_000),
  million: (bench) => sizeRows(bench, 1_000_000),
  memory: memoryRows,
  reminders: reminderRows,
  beside: besideRows,
};

/** Run only if they are asked for: three take 7 to 30 minutes, and `beside` needs a commit. */
const LONG = ["million", "memory", "reminders", "beside"];

const QUICK = {
  slice: 0.2,
  rounds: 5,
  maxRounds: 5,
  warmUp: 0.3,
  memoryMinutes: 0.2,
  steadyPages: 40,
  edge: { accounts: 2000, seconds: 2 },
  reminders: { due: 2_000, seconds: 10 },
};
const WHOLE = {
  slice: 0.4,
  rounds: 12,
  maxRounds: 30,
  warmUp: 2,
  memoryMinutes: 10,
  steadyPages: 1000,
  edge: { accounts: 143_000, seconds: 15 },
  reminders: { due: 50_000, seconds: 120 },
};

const README = fileURLToPath(new URL("README.md", import.meta.url));

await exitWith(async ({ stopping }) => {
  const { options, parts, write } = readArguments(process.argv.slice(2));
  if (!existsSync("/proc/self/task"))
    throw new SetupError("npm run bench reads CPU time from /proc/PID/task/*/schedstat, which only Linux has.");
  const folder = await mkdtemp(join(tmpdir(), "onboarding-bench-"));
  try {
    const tools = toolsIn(dataDirOf(process.env));
    const servers = await ensureServers({ dataDir: folder, tools, env: process.env, signal: stopping });
    try {
      const dist = await build(await mkdtemp(join(folder, "build-")));
      const bench = await openBench(servers, { dist, folder, options, signal: stopping });
      try {
        return await runParts(bench, parts, write);
      } finally {
        await bench.close();
      }
    } finally {
      await servers.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});

/** @returns the exit code. */
async function runParts(bench: Bench, parts: readonly string[], write: boolean): Promise<number> {
  const sections = new Map<string, Section>();
  for (const part of parts) {
    const started = performance.now();
    const section = await sectionOf(bench, part);
    sections.set(part, section);
    process.stdout.write(`${await textOf(section)}\n`);
    say(`${part}: ${((performance.now() - started) / 1000).toFixed(0)} s`);
  }
  if (write) {
    const whole = [...sections].filter(([, { failed }]) => failed === undefined);
    const on = `${new Date().toISOString().slice(0, 10)}, ${availableParallelism()} cores, ${bench.engine}`;
    const rows = new Map(whole.map(([part, section]) => [part, section.rows]));
    const readme = await withRows(readFileSync(README, "utf8"), rows, { on, file: README });
    writeFileSync(README, readme);
  }
  return exitCodeOf([...sections.values()]);
}

/** A part that breaks fails the bench, but not the parts after it. */
async function sectionOf(bench: Bench, part: string): Promise<Section> {
  try {
    return await PARTS[part]!(bench);
  } catch (error) {
    bench.signal.throwIfAborted();
    say(`${part}: ${explain(error)}`);
    const row = notMeasured(part, "", explain(error).split("\n")[0] ?? "");
    return { title: part, tables: [], rows: [row], failed: true };
  } finally {
    await bench.children.stopAll();
  }
}

/** @throws {SetupError} */
function readArguments(args: string[]): { options: Options; parts: readonly string[]; write: boolean } {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: "string", multiple: true },
      quick: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
    },
  });
  const known = Object.keys(PARTS);
  const parts = values.only ?? known.filter((part) => !LONG.includes(part));
  for (const part of parts) {
    if (!known.includes(part)) throw new SetupError(`--only ${part} is unknown. The parts are ${known.join(", ")}.`);
  }
  if (values.write && values.quick) throw new SetupError("--quick proves nothing, so its figures are not written.");
  return { parts, options: values.quick ? QUICK : WHOLE, write: values.write };
}
