import { writeFileSync } from "node:fs";
import mocha from "mocha";

/** mocha's spec reporter. `--reporter-option counts=FILE` also writes `{ passed, failed }` to FILE, for .ci/run. */
export default class SpecAndCounts extends mocha.reporters.Spec {
  constructor(runner: mocha.Runner, options: mocha.MochaOptions) {
    super(runner, options);
    const file: unknown = options.reporterOptions?.counts;
    if (typeof file !== "string") return;
    runner.once(mocha.Runner.constants.EVENT_RUN_END, () => {
      writeFileSync(file, JSON.stringify({ passed: this.stats.passes, failed: this.stats.failures }));
    });
  }
}
