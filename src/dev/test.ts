/**
 * `npm test`: runs mocha against an empty Redis and an empty MongoDB. Arguments are passed to mocha. Without a path among them,
 * all tests run except those that are too slow for every change.
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { runSuite } from "./run-suite.ts";
import { OTHER_SUITES } from "./suites.ts";

const EVERY_CHANGE = ["test/**/*.test.ts", ...OTHER_SUITES.flatMap((suite) => ["--ignore", `test/${suite}/**`])];

const args = process.argv.slice(2);
const selection = args.some((arg) => existsSync(arg)) ? args : [...EVERY_CHANGE, ...args];
await runSuite({ name: "test", mocha: ["--parallel", "--jobs", `${availableParallelism()}`, ...selection] });
