import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { dataDirOf, toolsIn } from "../../src/dev/data-dir.ts";
import { ensureServers } from "../../src/dev/servers.ts";
import { isAccepted } from "./compiler.ts";
import { type MochaResult, type MochaRun, runMocha } from "./run-mocha.ts";

/**
 * The number of copies of the project that run tests side by side. It is one more than the cores, because tests spend about
 * half of their time waiting. It is at most eight, because each copy has servers of its own.
 */
const BENCHES = Math.min(availableParallelism() + 1, 8);
/** What is not copied. Packages and downloaded programs are linked instead. */
const NOT_COPIED = new Set(["node_modules", ".git", ".data", "dist"]);

/** A copy of the project in a temporary folder, with a Redis and a MongoDB of its own. */
export interface Bench {
  /** Returns whether TypeScript's compiler accepts the project with `changes` (path to new text). Takes a few seconds. */
  compiles(changes: ReadonlyMap<string, string>): Promise<boolean>;
  /** Runs tests while `changes` (path to new text) stand in the copy, and puts the old texts back. */
  run(changes: ReadonlyMap<string, string>, run: Pick<MochaRun, "files" | "bail" | "limitMs">): Promise<MochaResult>;
}

/** Makes the benches, hands them to `use`, and then stops their servers and removes them, whatever happened. */
export async function withBenches<T>(
  root: string,
  signal: AbortSignal,
  use: (benches: readonly Bench[]) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "onboarding-mutants-"));
  const stops: (() => Promise<void>)[] = [];
  try {
    const benches: Bench[] = [];
    for (let n = 1; n <= BENCHES; n++) {
      const { bench, stop } = await makeBench(root, join(folder, `${n}`), signal);
      stops.push(stop);
      benches.push(bench);
    }
    return await use(benches);
  } finally {
    for (const stop of stops) await stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function makeBench(root: string, folder: string, signal: AbortSignal) {
  const project = join(folder, "project");
  const tmp = join(folder, "tmp");
  mkdirSync(tmp, { recursive: true });
  // Real copies, not hard links: a change of a copy must never reach the user's own files. Uncommitted changes are copied too.
  cpSync(root, project, {
    recursive: true,
    filter: (path) => !NOT_COPIED.has(relative(root, path)) && basename(path) !== "node_modules",
  });
  symlinkSync(join(root, "node_modules"), join(project, "node_modules"));
  const tools = toolsIn(dataDirOf(process.env));
  mkdirSync(tools, { recursive: true, mode: 0o700 });
  mkdirSync(join(project, ".data"), { mode: 0o700 });
  symlinkSync(tools, join(project, ".data", "tools"));
  // The copy has a .data and servers of its own, also if the environment names others: changed code must not write there.
  // Its tests record no traces.
  const { DATA_DIR: _d, REDIS_URL: _r, MONGODB_URL: _m, ...inherited } = process.env;
  const servers = await ensureServers({ dataDir: join(folder, "servers"), tools, env: inherited, signal });
  const env = { ...inherited, REDIS_URL: servers.redisUrl, MONGODB_URL: servers.mongodbUrl };
  const during = async <T>(changes: ReadonlyMap<string, string>, work: () => Promise<T>): Promise<T> => {
    const before = new Map([...changes.keys()].map((file) => [file, readFileSync(join(project, file))]));
    try {
      for (const [file, text] of changes) writeFileSync(join(project, file), text);
      return await work();
    } finally {
      for (const [file, text] of before) writeFileSync(join(project, file), text);
    }
  };
  const bench: Bench = {
    compiles: (changes) => during(changes, () => isAccepted({ project, memory: join(folder, "types"), signal })),
    run: (changes, run) => during(changes, () => runMocha({ ...run, project, tmp, env, signal })),
  };
  return { bench, stop: () => servers.stop() };
}

/** Works on all benches at once. After a failure it still waits for the others, so that no bench is removed while in use. */
export async function onAll(benches: readonly Bench[], work: (bench: Bench) => Promise<void>): Promise<void> {
  for (const result of await Promise.allSettled(benches.map(work)))
    if (result.status === "rejected") throw result.reason;
}
