/**
 * `npm run test:model`: starts Redis and MongoDB as `npm test` does, checks the small configurations of the models with
 * TLC, and checks recorded traces against the models. Without Java or TLC it says so and is skipped. Arguments are passed to
 * mocha. The suite records traces of its own. If TRACES names a folder, it checks the traces there, too.
 */
import { existsSync } from "node:fs";
import { say } from "./output.ts";
import { runSuite } from "./run-suite.ts";
import { findTlc } from "./tlc.ts";

const args = process.argv.slice(2);
const selection = args.some((arg) => existsSync(arg)) ? args : ["test/model/**/*.test.ts", ...args];
const tlc = await findTlc(new AbortController().signal);
if ("missing" in tlc) {
  say(`Skipped: the models are not checked without TLC: ${tlc.missing}`);
  process.exit(0);
}
// TRACES itself would make the tests record, too (test/model/record.ts).
const env = { ...tlc.env, TRACES: "", TRACES_TO_CHECK: process.env["TRACES"] ?? "" };
await runSuite({ name: "model", mocha: ["--no-parallel", ...selection], env: () => Promise.resolve(env) });
