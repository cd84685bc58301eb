import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

/** The effect of one fault on a load, in requests and milliseconds. */
export interface Outcome {
  fault: string;
  /** What must hold, in a few words. */
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
  /** Acknowledged with 2xx, but missing afterwards; for a limit, admissions that Redis lost. */
  lost: number;
  /** The slowest decision during the fault. */
  slowestMs: number;
  /** From the end of the fault to the recovery; absent if the fault has no such moment. */
  recoveryMs?: number;
  note?: string;
}

/** How a test ended. The reporter writes it after the outcomes that the test recorded. */
export interface Ending {
  test: string;
  state: "passed" | "failed" | "skipped";
  /** The error, or why the test was skipped. */
  why?: string;
}

/** The file that collects a run's outcomes, one JSON line each. `npm run test:faults` makes the table from it. */
export const OUTCOMES = process.env.FAULTS_OUTCOMES ?? ".data/faults/outcomes.jsonl";

/** Records and prints an outcome. Call it before a test's expectations, so that the table includes failures. */
export function record(outcome: Outcome): void {
  write(outcome);
  const { fault, held, ...numbers } = outcome;
  process.stdout.write(
    `      ${fault}: ${Object.entries(numbers)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ")} (${held})\n`,
  );
}

/** Skips the running test. `why` says what this machine lacks, and appears below the table. */
export function skip(test: Mocha.Context, why: string): never {
  write({ test: test.test?.fullTitle() ?? "", state: "skipped", why });
  return test.skip();
}

/** Records how a test ended. Called by the reporter. */
export function recordEnding(ending: Ending): void {
  write(ending);
}

/** Reads all lines of a run so far, in order. */
export function readOutcomes(file: string): (Outcome | Ending)[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Outcome | Ending);
}

function write(line: Outcome | Ending): void {
  mkdirSync(dirname(OUTCOMES), { recursive: true });
  appendFileSync(OUTCOMES, `${JSON.stringify(line)}\n`);
}
