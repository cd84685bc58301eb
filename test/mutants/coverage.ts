import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { dataDirOf, toolsIn } from "../../src/dev/data-dir.ts";
import { say } from "../../src/dev/output.ts";
import { OTHER_FOLDERS } from "../suites.ts";
import { type Bench, onAll } from "./bench.ts";
import type { Candidates } from "./candidates.ts";

/** Only the tests of `npm test` and `npm run test:processes` judge a change. */
const isLeftOut = (file: string) =>
  file.endsWith(".quiet.test.ts") || OTHER_FOLDERS.some((folder) => file.startsWith(`${folder}/`));
const LIMIT_MS = 600_000;
const RECORDER = pathToFileURL(join(import.meta.dirname, "record-coverage.mjs")).href;

/** Which candidates a file of tests reaches. */
export interface Reach {
  readonly file: string;
  readonly ids: ReadonlySet<string>;
}

interface Stored {
  /** Hash of what every file of tests depends on. */
  readonly shared: string;
  readonly files: Record<string, { readonly hash: string; readonly ids: readonly string[] }>;
}

/**
 * Runs every file of tests once on the instrumented code, to learn which candidates it reaches. Keeps the results in the
 * data folder, and runs again only files of tests that have changed, or all if something has changed that all of them may
 * depend on: src/, lua/, the packages, or a file of test/ that is no file of tests.
 */
export async function reachOf(root: string, benches: readonly Bench[], candidates: Candidates): Promise<Reach[]> {
  const cache = join(toolsIn(dataDirOf(process.env)), "mutants-coverage.json");
  const inTest = filesIn(root, "test");
  const isTest = (file: string) => file.endsWith(".test.ts");
  const shared = [...filesIn(root, "src"), ...filesIn(root, "lua"), ...inTest.filter((file) => !isTest(file))];
  const stored = readCache(cache, hashOf(root, ["package-lock.json", ...shared]));
  const files = inTest.filter((file) => isTest(file) && !isLeftOut(file));
  const tasks = files
    .map((file) => ({ file, hash: hashOf(root, [file]) }))
    .filter(({ file, hash }) => stored.files[file]?.hash !== hash);
  if (tasks.length > 0) say(`Learning what ${tasks.length} of ${files.length} files of tests reach …`);
  let done = 0;
  const queue = tasks.values();
  await onAll(benches, async (bench) => {
    for (const { file, hash } of queue) {
      const ids = await reached(bench, candidates, file);
      if (++done % 10 === 0) say(`  ${done} of ${tasks.length}`);
      delete stored.files[file]; // what it reached before it changed does not count
      if (ids === undefined)
        say(`${file} did not run to its end, so this run does without it. The next one tries again.`);
      else stored.files[file] = { hash, ids };
      writeFileSync(cache, JSON.stringify(stored));
    }
  });
  return files.map((file) => ({ file, ids: new Set(stored.files[file]?.ids) }));
}

/** @returns undefined if the tests could not be loaded, took too long, or ended their process. */
async function reached(
  bench: Bench,
  { instrumented }: Candidates,
  file: string,
): Promise<readonly string[] | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "onboarding-coverage-"));
  try {
    // The code itself imports the recorder, because some processes get no environment from those that start them.
    const recorder = `import ${JSON.stringify(`${RECORDER}?folder=${encodeURIComponent(folder)}`)};\n`;
    const recording = new Map([...instrumented].map(([path, text]) => [path, recorder + text]));
    // Whether the tests are green does not matter here: some read the code that was instrumented.
    const { outcome, timedOut } = await bench.run(recording, { files: [file], bail: false, limitMs: LIMIT_MS });
    if (timedOut || outcome?.ended !== true) return undefined;
    const ids = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"));
    return [...new Set(ids)];
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function readCache(path: string, shared: string): Stored {
  try {
    const stored = JSON.parse(readFileSync(path, "utf8")) as Stored;
    if (stored.shared === shared) return stored;
  } catch {
    // There is none yet, or an interrupted run left half of it.
  }
  return { shared, files: {} };
}

/** Lists the files below a folder of `root`, sorted. */
function filesIn(root: string, folder: string): string[] {
  const paths = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return paths
    .map((path) => join(folder, path))
    .filter((path) => statSync(join(root, path)).isFile())
    .toSorted();
}

function hashOf(root: string, files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest("hex");
}
