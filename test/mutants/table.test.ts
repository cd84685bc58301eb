import { existsSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { applied, whyNotCompiled } from "./apply.ts";
import { everyChangeTests } from "./files.ts";
import type { Mutant } from "./mutant.ts";
import { TABLE } from "./table.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TESTS = everyChangeTests(ROOT);

/** Returns what is wrong with a row; undefined if `npm run test:mutants` can run it. */
function faultOf({ file, before, after, red, equal }: Mutant): string | undefined {
  if (!existsSync(file)) return "the file does not exist";
  try {
    const fault = whyNotCompiled(file, applied(readFileSync(file, "utf8"), { before, after }));
    if (fault !== undefined) return `the changed file does not compile: ${fault}`;
  } catch (error) {
    return (error as Error).message;
  }
  if (equal !== undefined) return equal === "" ? "`equal` gives no reason" : undefined;
  if (red.length === 0) return "no test is named";
  return red.map(faultOfTest).find((fault) => fault !== undefined);
}

function faultOfTest(path: string): string | undefined {
  if (!existsSync(path)) return `${path} does not exist`;
  const found = statSync(path).isDirectory() ? TESTS.some((test) => test.startsWith(`${path}/`)) : TESTS.includes(path);
  return found ? undefined : `npm test does not run ${path}`;
}

describe("the table of mutants", () => {
  it("has only rows that fit the code as it is now", () => {
    const faults = TABLE.flatMap((row) => {
      const fault = faultOf(row);
      return fault === undefined ? [] : [`${row.file}: ${JSON.stringify(row.before)}: ${fault}`];
    });
    expect(faults).to.deep.equal([]);
  });

  it("has each change once", () => {
    const changes = TABLE.map(({ file, before, after }) =>
      applied(`${file}\n${readFileSync(file, "utf8")}`, { before, after }),
    );
    const repeated = TABLE.filter((_, index) => changes.indexOf(changes[index] ?? "") !== index);
    expect(repeated).to.deep.equal([]);
  });

  it("is checked by a function that finds a row whose line has changed, and a test that is gone", () => {
    const row = TABLE.find(({ file }) => file.endsWith(".ts"));
    if (row === undefined) throw new Error("The table has no row about TypeScript.");
    expect(faultOf({ ...row, before: "no file has this line" })).to.match(/does not occur/);
    expect(faultOf({ ...row, before: " " })).to.match(/more than once/);
    expect(faultOf({ ...row, after: row.before })).to.match(/are the same/);
    expect(faultOf({ ...row, after: "}{" })).to.match(/does not compile/);
    expect(faultOf({ ...row, red: ["test/gone.test.ts"] })).to.match(/does not exist/);
    expect(faultOf({ ...row, red: ["test/faults/limiter"] })).to.match(/npm test does not run/);
    expect(faultOf({ ...row, red: [] })).to.match(/no test is named/);
  });
});
