/**
 * `npm run test:monitoring`: starts Redis and MongoDB as `npm test` does, and runs the tests of k8s/components/monitoring
 * against a real Prometheus. Without Prometheus on the PATH it says so and is skipped. Arguments are passed to mocha.
 */
import { existsSync } from "node:fs";
import { say } from "./output.ts";
import { onPath } from "./programs.ts";
import { runSuite } from "./run-suite.ts";

const PROGRAMS = ["prometheus", "promtool", "mtail"];

const missing = PROGRAMS.filter((program) => onPath(program) === undefined);
if (missing.length > 0) {
  say(`Skipped: not on the PATH: ${missing.join(", ")}. On Debian: apt-get install prometheus mtail`);
  process.exit(0);
}

const args = process.argv.slice(2);
const selection = args.some((arg) => existsSync(arg)) ? args : ["test/monitoring/**/*.test.ts", ...args];
// The tests spend most of their time waiting, so several files run side by side.
await runSuite({ name: "monitoring", mocha: ["--parallel", "--jobs", "3", "--timeout", "120000", ...selection] });
