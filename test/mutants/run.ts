import { SetupError, say } from "../../src/dev/output.ts";
import { type Bench, onAll, withBenches } from "./bench.ts";
import { candidatesIn, changed, diffOf, lineOf } from "./candidates.ts";
import { reachOf } from "./coverage.ts";
import { shuffled } from "./draw.ts";
import { Judge } from "./judge.ts";

/** The least share of changes that must be red. */
const GOAL = 0.9;

export interface Drawn {
  /** A part of the path of the files that are changed. */
  readonly only?: string;
  /** How many changes are judged; all if undefined. */
  readonly count?: number;
  readonly seed?: number;
}

/**
 * Judges changes of src/ that StrykerJS makes: `count` of them drawn by chance, each as likely as any other, or all. A change
 * that the compiler refuses, or that cannot be loaded, is not judged: another one is drawn. Prints each survivor's diff and
 * a summary. @returns the exit code.
 */
export async function run(
  root: string,
  { only = "", count = Infinity, seed = 1 }: Drawn,
  signal: AbortSignal,
): Promise<number> {
  const candidates = await candidatesIn(root, signal);
  const eligible = candidates.all.filter(({ file }) => file.includes(only));
  if (eligible.length === 0)
    throw new SetupError(`No file of src/ that is changed has a path that contains "${only}".`);
  const order = count === Infinity ? eligible : shuffled(eligible, seed);
  const drawn = count === Infinity ? "all of them" : `${count} drawn with --seed ${seed}`;
  say(`${eligible.length} changes are possible; ${drawn}.`);
  let [judged, red] = [0, 0];
  await withBenches(root, signal, async (benches) => {
    const judge = new Judge(await reachOf(root, benches, candidates));
    const queue = order.values();
    const wanted = Math.min(count, order.length);
    let open = 0;
    // Each bench takes the next change until enough are judged or being judged.
    await onAll(benches, async (bench: Bench) => {
      while (judged + open < wanted) {
        const { value: candidate, done } = queue.next();
        if (done) return;
        const text = candidates.texts.get(candidate.file) ?? "";
        open++;
        const verdict = await judge.verdictOf(bench, candidate, changed(text, candidate));
        open--;
        if (verdict === undefined) continue;
        judged++;
        if (verdict.red) red++;
        const { file, start } = candidate;
        const kind = verdict.red ? "red" : "survived";
        say(`${judged} of ${wanted}: ${file}:${lineOf(text, start)} ${kind}, ${verdict.seconds} s, ${verdict.why}`);
        if (!verdict.red) console.log(`${diffOf(text, candidate)}\n`);
      }
    });
  });
  const percent = judged === 0 ? 0 : (100 * red) / judged;
  console.log(`${judged} changes, ${red} red (${percent.toFixed(1)} %), ${judged - red} survived, ${drawn}`);
  return red >= GOAL * judged ? 0 : 1;
}
