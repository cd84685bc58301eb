import { basename } from "node:path";
import { SetupError, say } from "../../src/dev/output.ts";
import { lineAt } from "./apply.ts";
import { Baseline, limitOf } from "./baseline.ts";
import { allOf, type Bench, withBenches } from "./bench.ts";
import { type Candidate, candidatesIn, changed } from "./candidates.ts";
import { type Reach, reachOf } from "./coverage.ts";
import { shuffled } from "./draw.ts";
import { namedEqual } from "./equal.ts";
import { judgedTwice } from "./judged-twice.ts";
import { changeOf, diffOf, reaches, type Row, summaryOf, tableOf, triedOf } from "./report.ts";
import { TABLE } from "./table.ts";
import type { Verdict } from "./verdict.ts";

/** The least share of changes by chance that must be red. Those that the table names as equal do not count. */
const GOAL = 0.9;
/** How many files of tests run in one process: few at first, because the nearest ones notice most changes. */
const FIRST_BATCH = 3;
const BATCH = 12;
/** A generous guess of what one file of tests takes on a busy machine. */
const SECONDS_OF_A_FILE = 15;

export interface Chance {
  /** A part of the path of the files that are changed. */
  readonly only: string;
  /** How many changes are judged; all if undefined. */
  readonly count?: number;
  readonly seed?: number;
}

/**
 * Judges changes of src/ that StrykerJS makes: `count` of them drawn by chance, each as likely as any other, or all. A change
 * that the compiler refuses, that cannot be loaded, or that the table names as equal is not judged: another one is drawn.
 * Prints the result, with each survivor's diff. @returns the exit code.
 */
export async function runChance(
  root: string,
  { only, count = Infinity, seed = 1 }: Chance,
  signal: AbortSignal,
): Promise<number> {
  const candidates = await candidatesIn(root);
  const eligible = candidates.all.filter(({ file }) => file.includes(only));
  if (eligible.length === 0)
    throw new SetupError(`No file of src/ that is changed has a path that contains "${only}".`);
  const order = count === Infinity ? eligible : shuffled(eligible, seed);
  const drawn = count === Infinity ? "all of them" : `${count} drawn with --seed ${seed}`;
  say(`${eligible.length} changes are possible; ${drawn}.`);
  const rows: Row[] = [];
  const survivors: string[] = [];
  await withBenches(root, signal, async (benches) => {
    const reach = await reachOf(root, benches, candidates);
    const known: Known = { reach, baseline: new Baseline(), noticed: new Map() };
    const queue = order.values();
    const wanted = Math.min(count, order.length);
    let open = 0;
    // Each bench takes the next change until enough are judged or being judged.
    const work = async (bench: Bench): Promise<void> => {
      while (triedOf(rows).length + open < wanted) {
        const { value: candidate, done } = queue.next();
        if (done) return;
        open++;
        const text = candidates.texts.get(candidate.file) ?? "";
        const after = changed(text, candidate);
        const verdict = after === undefined ? undefined : await judge(bench, known, candidate, { text, after });
        open--;
        if (after === undefined || verdict === undefined) continue;
        const row = rowOf(candidate, text, verdict);
        rows.push(row);
        if (verdict.kind === "survived") survivors.push(diffOf(candidate.file, text, after));
        const what = verdict.kind === "survived" ? `, ${row.change}` : ""; // a run that is interrupted has shown them
        say(
          `${triedOf(rows).length} of ${wanted}: ${row.file}:${row.line} ${row.kind}, ${Math.round(row.seconds)} s${what}`,
        );
      }
    };
    await allOf(benches.map(work));
  });
  console.log(tableOf(rows));
  for (const diff of survivors) console.log(`\n${diff}`);
  console.log(`${summaryOf(rows)}, ${drawn}`);
  return reaches(GOAL, rows) ? 0 : 1;
}

/** What a run knows of the files of tests. */
interface Known {
  readonly reach: readonly Reach[];
  readonly baseline: Baseline;
  /** For each file of tests, the number of changes that it has noticed so far. */
  readonly noticed: Map<string, number>;
}

/**
 * Runs the files of tests that reach a change, the nearest first, until one is red twice that is green without the change.
 * If the table names the change as equal, no test runs.
 * @returns undefined if the changed code does not compile, or cannot be loaded.
 */
async function judge(
  bench: Bench,
  known: Known,
  candidate: Candidate,
  { text, after }: { text: string; after: string },
): Promise<Verdict | undefined> {
  const equal = namedEqual(TABLE, { file: candidate.file, text, after });
  if (equal !== undefined) return equal;
  const { baseline, noticed } = known;
  const files = nearestFirst(known, candidate);
  const changes = new Map([[candidate.file, after]]);
  if (!(await bench.compiles(changes))) return undefined;
  let seconds = 0;
  let left = files;
  while (left.length > 0) {
    const batch = left.slice(0, left === files ? FIRST_BATCH : BATCH);
    const limitMs = limitOf(SECONDS_OF_A_FILE * batch.length);
    const { first, culprit, verdict } = await judgedTwice(bench, changes, { files: batch, limitMs });
    seconds += verdict.seconds;
    if (first.outcome === undefined && !first.timedOut) return undefined;
    const isRed = verdict.kind === "red";
    if (isRed && (culprit === undefined || (await baseline.of(bench, culprit)).red === undefined)) {
      if (culprit !== undefined) noticed.set(culprit, (noticed.get(culprit) ?? 0) + 1);
      return { ...verdict, seconds };
    }
    // The culprit is green when it runs alone, or red without the change too. The rest of the batch runs again without it.
    left = culprit === undefined ? left.slice(batch.length) : left.filter((file) => file !== culprit);
  }
  return {
    kind: "survived",
    why: files.length === 0 ? "no test reaches it" : `${files.length} files of tests`,
    seconds,
  };
}

/**
 * Orders the files of tests that reach a change: first the one of the same name, then those in the same folder, then the
 * others. In the same folder, the file that reaches least comes first, because it is the most likely to be about this code.
 * Among the others, those come first that have noticed most changes: they compare much of what clients see.
 */
function nearestFirst({ reach, noticed }: Known, { id, file }: Candidate): string[] {
  const distance = (test: string) => {
    const [, , name] = test.split("/");
    if (test.split("/")[1] !== file.split("/")[1]) return 2;
    return name === basename(file).replace(/\.ts$/, ".test.ts") ? 0 : 1;
  };
  const changes = (test: string) => (distance(test) === 2 ? (noticed.get(test) ?? 0) : 0);
  return reach
    .filter(({ ids }) => ids.has(id))
    .toSorted(
      (a, b) => distance(a.file) - distance(b.file) || changes(b.file) - changes(a.file) || a.ids.size - b.ids.size,
    )
    .map(({ file }) => file);
}

function rowOf({ file, start, end, replacement }: Candidate, text: string, verdict: Verdict): Row {
  return { ...verdict, file, line: lineAt(text, start), change: changeOf(text.slice(start, end), replacement) };
}
