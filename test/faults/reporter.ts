import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import mocha from "mocha";
import SpecAndCounts from "../support/reporter.ts";
import { OUTCOMES, readOutcomes, recordEnding } from "./report.ts";
import { tableOf } from "./table.ts";

const { EVENT_RUN_END, EVENT_TEST_FAIL, EVENT_TEST_PASS } = mocha.Runner.constants;

/**
 * Prints the usual test report, followed by the table of faults. `--reporter-option table=FILE` also writes the table to
 * that file. The table takes the servers' versions from FAULTS_SERVERS.
 */
export default class FaultsReporter extends SpecAndCounts {
  constructor(runner: mocha.Runner, options: mocha.MochaOptions) {
    super(runner, options);
    const file: unknown = options.reporterOptions?.table;
    runner.on(EVENT_TEST_PASS, (test) => recordEnding({ test: test.fullTitle(), state: "passed" }));
    runner.on(EVENT_TEST_FAIL, (test, error: Error) =>
      recordEnding({ test: test.fullTitle(), state: "failed", why: error.message }),
    );
    runner.once(EVENT_RUN_END, () => {
      const table = tableOf(readOutcomes(OUTCOMES), {
        When: `${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC`,
        Took: `${((this.stats.duration ?? 0) / 60_000).toFixed(1)} minutes`,
        Node: process.versions.node,
        Servers: process.env.FAULTS_SERVERS ?? "unknown",
        Machine: `${cpus().length} cores`,
      });
      process.stdout.write(`${table}\n`);
      if (typeof file === "string") writeFileSync(file, table);
    });
  }
}
