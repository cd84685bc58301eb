/** The program of `npm run model`. NAME…: the configurations whose names contain it. --large: those that take minutes, too. --write: write RESULTS.md. */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { allConfigurations, check, type Checked } from "./check.ts";
import { headOf, lineOf, resultsOf, traceLine } from "./results.ts";
import { recordAndCheck, traceModules, type TraceChecks } from "./trace-checks.ts";

const RESULTS = fileURLToPath(new URL("RESULTS.md", import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { large: { type: "boolean", default: false }, write: { type: "boolean", default: false } },
});
const print = (line: string) => void process.stdout.write(`${line}\n`);

const all = await allConfigurations();
const named = positionals.length > 0;
const chosen = all.filter(({ name, size }) =>
  named ? positionals.some((part) => name.includes(part)) : size === "small" || values.large,
);
if (chosen.length === 0)
  throw new Error(`No configuration is named so. There are: ${all.map(({ name }) => name).join(", ")}`);

const longest = Math.max(...chosen.map(({ name }) => name.length));
print(headOf(longest));
const checked: Checked[] = [];
for (const configuration of chosen) {
  const result = await check(configuration);
  checked.push(result);
  print(lineOf(longest, result));
  if (!result.asItShould && result.run.counterexample !== undefined) print(result.run.counterexample);
}
const traces: TraceChecks[] = [];
if (!named) {
  for (const checker of await traceModules()) {
    for (const run of checker.RUNS) {
      const result = await recordAndCheck(checker, run);
      traces.push(result);
      print(traceLine(result));
    }
  }
}
if (values.write || (values.large && !named)) writeFileSync(RESULTS, resultsOf(checked, traces));

const wrong = checked.filter(({ asItShould }) => !asItShould).map(({ configuration }) => configuration.name);
const refused = traces.filter((each) => each.refused.length > 0).map(({ module }) => `traces of ${module}`);
print(`${checked.length} configurations, ${[...wrong, ...refused].length} not as they should be`);
for (const name of [...wrong, ...refused]) print(`  ${name}`);
process.exit(wrong.length + refused.length > 0 ? 1 : 0);
