/**
 * `npm run test:mirrors`: mirrors a pipeline with dlt, Airbyte and the example in Python. Starts Redis and MongoDB as
 * `npm test` does. Without python3 3.10 or newer with venv it says so and is skipped. Arguments are passed to mocha.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { dataDirOf, toolsIn } from "./data-dir.ts";
import { lock } from "./lock.ts";
import { say } from "./output.ts";
import { findInVenv } from "./python.ts";
import { runSuite } from "./run-suite.ts";

const requirements = fileURLToPath(new URL("mirrors-requirements.txt", import.meta.url));
const tools = toolsIn(dataDirOf(process.env));
const { signal } = new AbortController();

const release = await lock(tools, () => say("Waiting for another process to finish installing tools …"));
const python = await findInVenv("mirrors 1", { tools, requirements, signal }).finally(release);
if (python === undefined) {
  say("Skipped: the mirrors in Python. They need python3 3.10 or newer with venv.");
  process.exit(0);
}

const args = process.argv.slice(2);
// The example in Python is tested with the one in TypeScript.
const files = ["test/mirrors/**/*.test.ts", "test/client/examples.test.ts"];
const selection = args.some((arg) => existsSync(arg)) ? args : [...files, ...args];
await runSuite({
  name: "mirrors",
  mocha: ["--no-parallel", "--timeout", "180000", ...selection],
  env: () => Promise.resolve({ MIRRORS_PYTHON: python }),
});
