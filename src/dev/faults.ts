/**
 * `npm run test:faults`: starts Redis and MongoDB as `npm test` does, runs the fault suite against them, one file after the
 * other, and ends with a table of what was broken and what held. Arguments are passed to mocha. Without a path or pattern
 * among them, the whole suite runs and the table is also written to test/faults/RESULTS.md. `npm run test:soak` passes the
 * path of the soak test.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { runSuite } from "./run-suite.ts";
import { serverNames } from "./server-names.ts";

const SUITE = ["test/faults/**/*.test.ts", "--ignore", "test/faults/soak/**"];
const TABLE = ["--reporter-option", "table=test/faults/RESULTS.md"];
/** Arguments of mocha that select some of the tests. */
const SELECTS_TESTS = /^(-g|-f|--grep|--fgrep)\b/;
/**
 * Fault tests disturb each other, so they run one at a time. `--exit` ends mocha even if a test that timed out is still
 * working in the background.
 */
const ONE_BY_ONE = ["--no-parallel", "--exit", "--reporter", "test/faults/reporter.ts"];

const args = process.argv.slice(2);
const table = args.some((arg) => SELECTS_TESTS.test(arg)) ? [] : TABLE;
const selection = args.some((arg) => existsSync(arg)) ? args : [...SUITE, ...table, ...args];
await runSuite({
  name: "faults",
  mocha: [...ONE_BY_ONE, ...selection],
  env: async (servers, dataDir) => ({
    FAULTS_OUTCOMES: join(dataDir, "outcomes.jsonl"),
    FAULTS_SERVERS: await serverNames(servers),
  }),
});
