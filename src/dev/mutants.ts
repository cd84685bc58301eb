/**
 * `npm run test:mutants`: changes one line of the project at a time and runs the tests that must notice. It works on copies;
 * the checkout is never changed. test/mutants/README.md says how to read what it prints.
 *
 *     npm run test:mutants                              every row of the table
 *     npm run test:mutants -- --only lua/charge.lua     the rows whose file's path contains this
 *     npm run test:mutants -- --random 100 --seed 7     100 changes by chance; without --seed, others each time
 *     npm run test:mutants -- --all src/precondition.ts every change in the files whose path contains this
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runChance } from "../../test/mutants/run-chance.ts";
import { runTable } from "../../test/mutants/run-table.ts";
import { TABLE } from "../../test/mutants/table.ts";
import { SetupError } from "./output.ts";
import { exitWith } from "../../test/support/exit-with.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    random: { type: "string" },
    seed: { type: "string" },
    all: { type: "string" },
  },
});

await exitWith(async ({ stopping }) => {
  const { only, random, seed, all } = values;
  if (all !== undefined) return runChance(ROOT, { only: all }, stopping);
  if (random !== undefined)
    return runChance(ROOT, { only, count: numberOf("random", random), seed: seedOf(seed) }, stopping);
  const rows = TABLE.filter(({ file }) => file.includes(only));
  if (rows.length === 0) throw new SetupError(`No row of the table is about a file whose path contains "${only}".`);
  return runTable(ROOT, rows, stopping);
});

function numberOf(option: string, value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new SetupError(`--${option} takes a number above 0, not "${value}".`);
  return Number(value);
}

function seedOf(seed: string | undefined): number {
  return seed === undefined ? 1 + Math.floor(Math.random() * 999_999_999) : numberOf("seed", seed);
}
