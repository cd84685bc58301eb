import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

/** What one fault did to a load, in requests and milliseconds. */
export interface Outcome {
  fault: string;
  /** What had to hold, in a few words. */
  held: string;
  offered: number;
  /** Answered 2xx. */
  admitted: number;
  /** Answered 429. */
  refused: number;
  /** Answered 503. */
  unavailable: number;
  /** Broken connections and answers of any other status. */
  failed: number;
  /** Acknowledged with 2xx, and not there afterwards. */
  lost: number;
  /** The slowest decision while the fault lasted. */
  slowestMs: number;
  /** From the end of the fault to the first good answer; absent where there is no such moment. */
  recoveryMs?: number;
  note?: string;
}

/** How a test ended, as the reporter writes it after the outcomes that the test recorded. */
export interface Ending {
  test: string;
  state: "passed" | "failed" | "skipped";
  /** What went wrong, or why it was skipped. */
  why?: string;
}

/** Where a run's outcomes are gathered, a JSON line each; `npm run test:faults` makes the table from it. */
export const OUTCOMES = process.env.FAULTS_OUTCOMES ?? ".data/faults/outcomes.jsonl";

/** Writes a case's outcome down and prints it. Call it before the case's expectations, so that a failure is in the table too. */
export function record(outcome: Outcome): void {
  write(outcome);
  const { fault, held, ...numbers } = outcome;
  process.stdout.write(
    `      ${fault}: ${Object.entries(numbers)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ")} (${held})\n`,
  );
}

/** Skips the test that runs, and says why in the table: what this machine lacks. */
export function skip(test: Mocha.Context, why: string): never {
  write({ test: test.test?.fullTitle() ?? "", state: "skipped", why });
  return test.skip();
}

/** For the reporter: how a test ended. */
export function recordEnding(ending: Ending): void {
  write(ending);
}

/** Every line of a run so far, in order. */
export function readOutcomes(file: string): (Outcome | Ending)[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Outcome | Ending);
}

function write(line: Outcome | Ending): void {
  mkdirSync(dirname(OUTCOMES), { recursive: true });
  appendFileSync(OUTCOMES, `${JSON.stringify(line)}\n`);
}
