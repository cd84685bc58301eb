import { writeFileSync } from "node:fs";
import mocha from "mocha";

/**
 * mocha's spec reporter. `--reporter-option counts=FILE` also writes `{ passed, failed, failures }` to FILE, for
 * .ci/run. Each of `failures` is the title of a failed test, and the first line of its error's message.
 */
export default class SpecAndCounts extends mocha.reporters.Spec {
  constructor(runner: mocha.Runner, options: mocha.MochaOptions) {
    super(runner, options);
    const file: unknown = options.reporterOptions?.counts;
    if (typeof file !== "string") return;
    const failures: string[] = [];
    runner.on(mocha.Runner.constants.EVENT_TEST_FAIL, (test, error: { message?: string } | undefined) => {
      failures.push(`${test.fullTitle()}: ${error?.message?.split("\n", 1)[0]}`);
    });
    runner.once(mocha.Runner.constants.EVENT_RUN_END, () => {
      writeFileSync(file, JSON.stringify({ passed: this.stats.passes, failed: this.stats.failures, failures }));
    });
  }
}
