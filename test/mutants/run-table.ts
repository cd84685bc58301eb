import { say } from "../../src/dev/output.ts";
import { applied, commonStart, lineAt, placeOf, whyNotCompiled } from "./apply.ts";
import { Baseline, limitOf } from "./baseline.ts";
import { type Bench, shareOut, withBenches } from "./bench.ts";
import { judgedTwice } from "./judged-twice.ts";
import type { Mutant } from "./mutant.ts";
import { changeOf, reaches, type Row, summaryOf, tableOf } from "./report.ts";
import type { Verdict } from "./verdict.ts";

/** The least share of rows that must be red. */
const GOAL = 0.95;

/** Runs rows of the table of mutants and prints the result. @returns the exit code. */
export async function runTable(root: string, mutants: readonly Mutant[], signal: AbortSignal): Promise<number> {
  const judged = await withBenches(root, signal, async (benches) => {
    const baseline = new Baseline();
    const files = [...new Set(mutants.flatMap(({ red, equal }) => (equal === undefined ? red : [])))];
    say(`Running ${files.length} files of tests on the unchanged project …`);
    await shareOut(benches, files, async (bench, file) => {
      const { red } = await baseline.of(bench, file);
      if (red !== undefined) say(`Red without any change: ${red}`);
    });
    let done = 0;
    return shareOut(benches, mutants, async (bench, mutant) => {
      const row = rowOf(bench, mutant, await judge(bench, baseline, mutant));
      say(`${++done} of ${mutants.length}: ${row.file}:${row.line} ${row.kind}, ${Math.round(row.seconds)} s`);
      return row;
    });
  });
  console.log(tableOf(judged));
  console.log(summaryOf(judged));
  return reaches(GOAL, judged) ? 0 : 1;
}

async function judge(bench: Bench, baseline: Baseline, mutant: Mutant): Promise<Verdict> {
  const { file, red: files, equal } = mutant;
  if (equal !== undefined) return { kind: "equal", why: equal, seconds: 0 };
  let limitMs = 0;
  for (const file of files) {
    const { seconds, red } = await baseline.of(bench, file);
    if (red !== undefined) return { kind: "error", why: `red without the change: ${red}`, seconds: 0 };
    limitMs += limitOf(seconds);
  }
  try {
    const text = applied(bench.read(file), mutant);
    const fault = whyNotCompiled(file, text);
    if (fault !== undefined) throw new Error(`does not compile: ${fault}`);
    return (await judgedTwice(bench, new Map([[file, text]]), { files, limitMs })).verdict;
  } catch (error) {
    if ((error as Error).name === "AbortError") throw error;
    return { kind: "error", why: (error as Error).message, seconds: 0 };
  }
}

function rowOf(bench: Bench, mutant: Mutant, verdict: Verdict): Row {
  const { file, before, after } = mutant;
  return { ...verdict, file, line: lineOf(bench, mutant), change: changeOf(before, after) };
}

/** Returns the line of the first character that differs; 0 if the row no longer fits its file. */
function lineOf(bench: Bench, { file, before, after }: Mutant): number {
  try {
    const text = bench.read(file);
    return lineAt(text, placeOf(text, { before }) + commonStart(before, after));
  } catch {
    return 0;
  }
}
