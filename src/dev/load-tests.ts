/**
 * `npm run test:load`: tests the load kit against four replicas. Starts Redis and MongoDB as `npm test` does. Arguments are
 * passed to mocha. Without k6 on the PATH, the tests of the k6 scripts are skipped.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { say } from "./output.ts";
import { runSuite } from "./run-suite.ts";

const args = process.argv.slice(2);
const selection = args.some((arg) => existsSync(arg)) ? args : ["test/load/**/*.test.ts", ...args];
if (spawnSync("k6", ["version"]).error !== undefined)
  say("k6 is not on the PATH, so the k6 scripts are not tested. https://grafana.com/docs/k6/latest/set-up/install-k6/");
await runSuite({ name: "load", mocha: ["--no-parallel", "--exit", ...selection] });
