/**
 * `npm run test:browser`: starts Redis and MongoDB as `npm test` does, and runs the tests of /docs and /console in Chromium.
 * Without Chromium on the PATH it says so and is skipped. Arguments are passed to mocha.
 */
import { existsSync } from "node:fs";
import { say } from "./output.ts";
import { onPath } from "./programs.ts";
import { runSuite } from "./run-suite.ts";

/** Debian calls it chromium. */
const chromium = onPath("chromium") ?? onPath("chromium-browser") ?? onPath("google-chrome");
if (chromium === undefined) {
  say("Skipped: not on the PATH: chromium. On Debian: apt-get install chromium");
  process.exit(0);
}

const args = process.argv.slice(2);
const selection = args.some((arg) => existsSync(arg)) ? args : ["test/browser/**/*.test.ts", ...args];
const env = { CHROMIUM: chromium };
await runSuite({
  name: "browser",
  mocha: ["--timeout", "120000", ...selection],
  env: () => Promise.resolve(env),
});
