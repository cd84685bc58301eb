import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";

const FOLDER = "test/model";

/** One line of a module that names the code which it mirrors: `\* code: FILE | PIECE OF A LINE`. */
interface Reference {
  readonly at: string;
  readonly file: string;
  readonly piece: string;
}

/** @throws if a line begins as a reference does but is none: a reference must not escape the test. */
function referencesIn(module: string, text: string): Reference[] {
  return text.split("\n").flatMap((line, index) => {
    if (!/\\\*\s*code:/.test(line)) return [];
    const [, file, piece] = /\\\* code: (\S+) \| (.+?)\s*$/.exec(line) ?? [];
    if (file === undefined || piece === undefined) throw new Error(`${module}:${index + 1}: ${line}`);
    return [{ at: `${module}:${index + 1}`, file, piece }];
  });
}

function missing({ file, piece }: Reference): boolean {
  return (
    !existsSync(file) ||
    !readFileSync(file, "utf8")
      .split("\n")
      .some((line) => line.includes(piece))
  );
}

describe("the models name the code that they mirror", () => {
  const modules = readdirSync(FOLDER).filter((file) => file.endsWith(".tla"));
  const references = modules.flatMap((name) => referencesIn(name, readFileSync(`${FOLDER}/${name}`, "utf8")));

  it("and each named line is in its file", () => {
    expect(references.filter(missing).map(({ at, file, piece }) => `${at}: ${file} | ${piece}`)).to.deep.equal([]);
  });

  for (const module of ["Limiter.tla", "Feed.tla"]) {
    it(`in ${module}`, () => {
      expect(references.filter(({ at }) => at.startsWith(`${module}:`))).not.to.have.length(0);
    });
  }

  it("and a line that has changed is found", () => {
    const [found] = referencesIn("A.tla", "  \\* code: lua/charge.lua | if deadline > 1 and now >= deadline then");
    expect(missing(found!)).to.equal(true);
    const [same] = referencesIn("A.tla", "  \\* code: lua/charge.lua | if deadline > 0 and now >= deadline then");
    expect(missing(same!)).to.equal(false);
    expect(() => referencesIn("A.tla", "\\* code: lua/charge.lua")).to.throw("A.tla:1");
  });
});
