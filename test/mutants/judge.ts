import { basename } from "node:path";
import type { Bench } from "./bench.ts";
import type { Candidate } from "./candidates.ts";
import type { Reach } from "./coverage.ts";
import type { MochaResult } from "./run-mocha.ts";

/** How many files of tests run in one process: few at first, because the nearest ones notice most changes. */
const FIRST_BATCH = 3;
const BATCH = 12;
const UNCHANGED: ReadonlyMap<string, string> = new Map();

/** What the tests said about a change. */
export interface Verdict {
  /** Whether a test noticed. */
  readonly red: boolean;
  /** The test that noticed, or how many files of tests did not. */
  readonly why: string;
  readonly seconds: number;
}

/** Runs the files of tests that reach a change, the nearest first, until some are red because of it. */
export class Judge {
  readonly #reach: readonly Reach[];
  /** For each file of tests, the number of changes that it has noticed so far. */
  readonly #noticed = new Map<string, number>();
  /** Which files of tests are green without a change. */
  readonly #green = new Map<string, Promise<boolean>>();

  constructor(reach: readonly Reach[]) {
    this.#reach = reach;
  }

  /** @returns undefined if the changed code, `after`, does not compile, or cannot be loaded: nobody could ship it. */
  async verdictOf(bench: Bench, candidate: Candidate, after: string): Promise<Verdict | undefined> {
    const changes = new Map([[candidate.file, after]]);
    if (!(await bench.compiles(changes))) return undefined;
    const files = this.#nearestFirst(candidate);
    const started = performance.now();
    const seconds = () => Math.round((performance.now() - started) / 1000);
    let left = files;
    while (left.length > 0) {
      const batch = left.slice(0, left === files ? FIRST_BATCH : BATCH);
      const first = await run(bench, changes, batch);
      if (first.outcome === undefined && !first.timedOut) return undefined;
      if (faultOf(first) === undefined) {
        left = left.slice(batch.length);
        continue;
      }
      // One failure may come from a slow machine, or from another file that ran before it in the same process. So a file
      // must fail again alone. If no file is to blame, because the process ended or hung, all must fail again.
      const culprit = batch.filter((file) => file === first.outcome?.first?.file);
      const suspects = culprit.length > 0 ? culprit : batch;
      const why = faultOf(await run(bench, changes, suspects));
      if (why !== undefined && (await this.#isGreen(bench, suspects))) {
        for (const file of culprit) this.#noticed.set(file, (this.#noticed.get(file) ?? 0) + 1);
        return { red: true, why, seconds: seconds() };
      }
      left = left.filter((file) => !suspects.includes(file)); // the others have not run to their end yet
    }
    return { red: false, why: `${files.length} files of tests reach it`, seconds: seconds() };
  }

  /** Whether files of tests are green without any change. Runs them once. */
  #isGreen(bench: Bench, files: readonly string[]): Promise<boolean> {
    const name = files.join();
    const green = this.#green.get(name) ?? run(bench, UNCHANGED, files).then((result) => faultOf(result) === undefined);
    this.#green.set(name, green);
    return green;
  }

  /**
   * Orders the files of tests that reach a change: first the one of the same name, then those in the same folder, then the
   * others. In the same folder, the file that reaches least comes first, because it is the most likely to be about this
   * code. Among the others, those come first that have noticed most changes: they compare much of what clients see.
   */
  #nearestFirst({ id, file }: Candidate): string[] {
    const distance = (test: string) => {
      const [, folder, name] = test.split("/");
      if (folder !== file.split("/")[1]) return 2;
      return name === basename(file).replace(/\.ts$/, ".test.ts") ? 0 : 1;
    };
    const changes = (test: string) => (distance(test) === 2 ? (this.#noticed.get(test) ?? 0) : 0);
    return this.#reach
      .filter(({ ids }) => ids.has(id))
      .toSorted(
        (a, b) => distance(a.file) - distance(b.file) || changes(b.file) - changes(a.file) || a.ids.size - b.ids.size,
      )
      .map(({ file }) => file);
  }
}

function run(bench: Bench, changes: ReadonlyMap<string, string>, files: readonly string[]): Promise<MochaResult> {
  // Generous for a busy machine. A test that hangs fails after mocha's 60 seconds, and says more than a time-out.
  return bench.run(changes, { files, bail: true, limitMs: 90_000 + 75_000 * files.length });
}

/** Returns why a run is red: what failed first, or that the tests hung or their process ended. */
function faultOf({ outcome, timedOut }: MochaResult): string | undefined {
  if (timedOut) return "timed out";
  const { first, ended } = outcome ?? { ended: false };
  if (first !== undefined) return `${first.file}: ${first.title}: ${first.error}`;
  return ended ? undefined : "the process of the tests ended in the middle of a test";
}
