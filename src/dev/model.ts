/**
 * `npm run model [-- NAME…] [--large] [--write]`: checks the configurations of the models with TLC, and traces of the real
 * code against the models, and prints a table. A NAME selects the configurations whose names contain it. `--large` adds
 * those that take minutes, and writes the table to test/model/RESULTS.md. `--write` writes the table of any run there.
 * Without Java or TLC it says so and does nothing.
 */
import { say } from "./output.ts";
import { runSuite } from "./run-suite.ts";
import { findTlc } from "./tlc.ts";

const tlc = await findTlc(new AbortController().signal);
if ("missing" in tlc) {
  say(`Skipped: the models are not checked without TLC: ${tlc.missing}`);
  process.exit(0);
}
const { env } = tlc;
await runSuite({
  name: "model",
  program: "test/model/main.ts",
  args: process.argv.slice(2),
  env: () => Promise.resolve(env),
});
