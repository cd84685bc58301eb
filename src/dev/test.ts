/**
 * `npm test`: runs mocha against an empty Redis and an empty MongoDB. Arguments are passed to mocha. Without a path among them,
 * all tests run except those that are too slow for every change.
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { runSuite } from "./run-suite.ts";

const EVERY_CHANGE = [
  "test/**/*.test.ts",
  ...["exactness", "faults", "k8s", "load", "bench", "monitoring", "containers"].flatMap((slow) => [
    "--ignore",
    `test/${slow}/**`,
  ]),
];

const args = process.argv.slice(2);
const selection = args.some((arg) => existsSync(arg)) ? args : [...EVERY_CHANGE, ...args];
await runSuite({ name: "test", mocha: ["--parallel", "--jobs", `${availableParallelism()}`, ...selection] });
