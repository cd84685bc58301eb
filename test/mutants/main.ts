/**
 * `npm run test:mutants`: changes one place of src/ at a time and runs the tests that must notice. It works on copies; the
 * checkout is never changed. test/mutants/README.md says how to read what it prints.
 *
 *     npm run test:mutants -- --random 100 --seed 7     100 changes by chance; without --seed, others each time
 *     npm run test:mutants -- --all src/precondition.ts every change in the files whose path contains this
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { SetupError } from "../../src/dev/output.ts";
import { exitWith } from "../support/exit-with.ts";
import { run } from "./run.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");
const USAGE = `Say what to change:
  npm run test:mutants -- --random 20     20 changes by chance; --seed 7 repeats those of another run
  npm run test:mutants -- --all PATH      every change in the files whose path contains PATH`;

await exitWith(async ({ stopping }) => {
  const { random, seed, all } = options();
  if (all !== undefined) return run(ROOT, { only: all }, stopping);
  if (random === undefined) throw new SetupError(USAGE);
  return run(ROOT, { count: numberOf("random", random), seed: seedOf(seed) }, stopping);
});

function options() {
  try {
    return parseArgs({ options: { random: { type: "string" }, seed: { type: "string" }, all: { type: "string" } } })
      .values;
  } catch {
    throw new SetupError(USAGE);
  }
}

function numberOf(option: string, value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new SetupError(`--${option} takes a number above 0, not "${value}".`);
  return Number(value);
}

function seedOf(seed: string | undefined): number {
  return seed === undefined ? 1 + Math.floor(Math.random() * 999_999_999) : numberOf("seed", seed);
}
