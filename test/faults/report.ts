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

/** Prints an outcome. Call it before a test's expectations, so that a failure shows it, too. */
export function record({ fault, held, ...numbers }: Outcome): void {
  const shown = Object.entries(numbers).map(([name, value]) => `${name} ${value}`);
  process.stdout.write(`      ${fault}: ${shown.join(", ")} (${held})\n`);
}

/** Skips the running test. `why` says what this machine lacks. */
export function skip(test: Mocha.Context, why: string): never {
  process.stdout.write(`      skipped: ${why}\n`);
  return test.skip();
}
