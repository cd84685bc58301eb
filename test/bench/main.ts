/**
 * `npm run bench`: measures the service beside other limiters and against its own bounds, prints tables, and writes a page
 * with plots. Starts an empty Redis and an empty MongoDB, as `npm test` does. README.md, section Bench, says what it prints.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { dataDirOf, toolsIn } from "../../src/dev/data-dir.ts";
import { explain, say, SetupError } from "../../src/dev/output.ts";
import { ensureServers } from "../../src/dev/servers.ts";
import { exitWith } from "../support/exit-with.ts";
import { type Bench, openBench, type Options } from "./bench.ts";
import { build } from "./build.ts";
import { requireAccounting } from "./cpu.ts";
import { writePage } from "./page.ts";
import { exitCodeOf, notMeasured, type Section } from "./report.ts";
import { fileRows } from "./rows/files.ts";
import { limiterRows } from "./rows/limiter.ts";
import { limiterSizeRows } from "./rows/limiter-size.ts";
import { listRows } from "./rows/list.ts";
import { memoryRows } from "./rows/memory.ts";
import { readRows } from "./rows/read.ts";
import { replicaRows } from "./rows/replicas.ts";
import { roundTripRows } from "./rows/round-trips.ts";
import { sizeRows } from "./rows/sizes.ts";
import { startRows } from "./rows/start.ts";
import { rowsText, textOf } from "./terminal.ts";

const PARTS: Record<string, (bench: Bench) => Promise<Section>> = {
  limiter: limiterRows,
  "limiter-size": limiterSizeRows,
  list: listRows,
  read: readRows,
  "round-trips": roundTripRows,
  processes: startRows,
  replicas: replicaRows,
  files: fileRows,
  sizes: sizeRows,
  memory: memoryRows,
};

/** Runs only if it is asked for: it takes half an hour. */
const LONG = "memory";

/** After this no part begins, so that the bench ends within 15 minutes. */
const LAST_START_MS = 13 * 60_000;

await exitWith(async ({ stopping }) => {
  const { options, parts, out } = readArguments(process.argv.slice(2));
  requireAccounting();
  const folder = await mkdtemp(join(tmpdir(), "onboarding-bench-"));
  try {
    const tools = toolsIn(dataDirOf(process.env));
    const servers = await ensureServers({ dataDir: folder, tools, env: process.env, signal: stopping });
    try {
      const dist = await build(await mkdtemp(join(folder, "build-")), stopping);
      const bench = await openBench(servers, { dist, folder, options, signal: stopping });
      try {
        return await runParts(bench, parts, out);
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
async function runParts(bench: Bench, parts: readonly string[], out: string): Promise<number> {
  const sections: Section[] = [];
  const begun = performance.now();
  for (const part of parts) {
    const started = performance.now();
    const inTime = started - begun < LAST_START_MS || part === LONG;
    const section = inTime ? await sectionOf(bench, part) : outOfTime(part);
    sections.push(section);
    process.stdout.write(`${textOf(section)}\n`);
    say(`${part}: ${((performance.now() - started) / 1000).toFixed(0)} s`);
  }
  const rows = sections.flatMap((section) => section.rows);
  process.stdout.write(`\nAll rows (MongoDB: ${bench.engine})\n${rowsText(rows)}\n`);
  const page = resolve(out);
  await writePage(page, sections, {
    date: new Date().toISOString(),
    node: process.versions.node,
    cores: availableParallelism(),
    engine: bench.engine,
  });
  process.stdout.write(`The page with plots: ${page}\n`);
  return exitCodeOf(sections);
}

function outOfTime(part: string): Section {
  const row = notMeasured(part, "", `the parts before it took too long; npm run bench -- --only ${part} measures it`);
  return { title: part, tables: [], rows: [row], charts: [] };
}

/** A part that breaks fails the bench, but not the parts after it. */
async function sectionOf(bench: Bench, part: string): Promise<Section> {
  try {
    return (await PARTS[part]?.(bench)) ?? { title: part, tables: [], rows: [], charts: [] };
  } catch (error) {
    bench.signal.throwIfAborted();
    say(`${part}: ${explain(error)}`);
    const row = notMeasured(part, "", explain(error).split("\n")[0] ?? "");
    return { title: part, tables: [], rows: [row], charts: [], failed: true };
  } finally {
    await bench.children.stopServers();
  }
}

/** @throws {SetupError} */
function readArguments(args: string[]): { options: Options; parts: readonly string[]; out: string } {
  const { values } = parseArgs({
    args,
    options: {
      out: { type: "string", default: "dist/bench/index.html" },
      only: { type: "string", multiple: true },
      quick: { type: "boolean", default: false },
      large: { type: "boolean", default: false },
      memory: { type: "boolean", default: false },
      "memory-minutes": { type: "string", default: "10" },
    },
  });
  const known = Object.keys(PARTS);
  const parts = values.only ?? known.filter((part) => part !== LONG || values.memory);
  for (const part of parts) {
    if (!known.includes(part)) throw new SetupError(`--only ${part} is unknown. The parts are ${known.join(", ")}.`);
  }
  const memoryMinutes = Number(values["memory-minutes"]);
  if (!(memoryMinutes > 0 && Number.isFinite(memoryMinutes)))
    throw new SetupError("--memory-minutes must be a number of minutes above 0.");
  const pace = values.quick
    ? { slice: 0.2, rounds: 5, maxRounds: 5, warmUp: 0.3, edge: { accounts: 2000, seconds: 2 } }
    : { slice: 0.4, rounds: 12, maxRounds: 30, warmUp: 2, edge: { accounts: 143_000, seconds: 15 } };
  const sizes = values.quick ? [200, 400] : [1000, 10_000, ...(values.large ? [1_000_000] : [])];
  return {
    parts,
    out: values.out,
    options: { ...pace, plots: true, sizes, memoryMinutes },
  };
}
