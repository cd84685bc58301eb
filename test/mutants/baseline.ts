import type { Bench } from "./bench.ts";
import { verdictOf } from "./verdict.ts";

const FIRST_RUN_LIMIT_MS = 600_000;
const UNCHANGED: ReadonlyMap<string, string> = new Map();

/** Runs tests on the unchanged project. A change is only noticed by a test that is green without it. */
export class Baseline {
  readonly #runs = new Map<string, Promise<{ seconds: number; red?: string }>>();

  /** @returns the seconds that the tests of a file took, and, unless they are green, which test failed and why. Runs them once. */
  of(bench: Bench, file: string): Promise<{ seconds: number; red?: string }> {
    const run = this.#runs.get(file) ?? this.#run(bench, file);
    this.#runs.set(file, run);
    return run;
  }

  async #run(bench: Bench, file: string): Promise<{ seconds: number; red?: string }> {
    const options = { files: [file], bail: false, limitMs: FIRST_RUN_LIMIT_MS, env: {} };
    const { kind, why, seconds } = verdictOf(await bench.run(UNCHANGED, options));
    return kind === "survived" ? { seconds } : { seconds, red: why };
  }
}

/** How long tests may take on a changed project, in milliseconds, if they take `seconds` on the unchanged one. */
export function limitOf(seconds: number): number {
  return 90_000 + 5_000 * seconds; // a test that hangs fails after mocha's 60 seconds, and says more than a time-out
}
