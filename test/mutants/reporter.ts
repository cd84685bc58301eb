import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import mocha from "mocha";

/** What a run of mocha left in the file that `--reporter-option outcome=FILE` names. */
export interface Outcome {
  /** Whether the run came to its end. False if the process ended in the middle of a test. */
  readonly ended: boolean;
  /** The first failed test and its file, and the first line of its error. The file is empty if a hook of all files failed. */
  readonly first?: { readonly file: string; readonly title: string; readonly error: string };
}

/**
 * A reporter of mocha that prints nothing. It writes an `Outcome` when the tests are loaded, before the first one runs, and
 * again at the end. So a missing file means that the tests could not be loaded.
 */
export default class OutcomeReporter extends mocha.reporters.Base {
  constructor(runner: mocha.Runner, options: mocha.MochaOptions) {
    super(runner, options);
    const path = String(options.reporterOptions?.outcome);
    let first: Outcome["first"];
    const write = (ended: boolean) => {
      const outcome: Outcome = { ended, ...(first && { first }) };
      writeFileSync(path, JSON.stringify(outcome));
    };
    runner.once(mocha.Runner.constants.EVENT_RUN_BEGIN, () => write(false));
    runner.on(mocha.Runner.constants.EVENT_TEST_FAIL, (test, error: { message?: string } | undefined) => {
      const file = relative(process.cwd(), test.file ?? test.parent?.file ?? "");
      first ??= { file, title: test.fullTitle(), error: String(error?.message).split("\n", 1)[0] ?? "" };
    });
    runner.once(mocha.Runner.constants.EVENT_RUN_END, () => write(true));
  }
}
