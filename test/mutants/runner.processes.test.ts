import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { isAccepted } from "./compiler.ts";
import { shuffled } from "./draw.ts";
import { Judge } from "./judge.ts";
import { type MochaResult, runMocha } from "./run-mocha.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const { signal } = new AbortController();
const GREEN: MochaResult = { timedOut: false, outcome: { ended: true } };
const ENDED: MochaResult = { timedOut: false, outcome: { ended: false } };
const HUNG: MochaResult = { timedOut: true, outcome: { ended: false } };
const NOT_LOADED: MochaResult = { timedOut: false, outcome: undefined };
const failedIn = (file: string): MochaResult => ({
  timedOut: false,
  outcome: { ended: true, first: { file, title: "adds", error: "3 is not 4" } },
});

describe("the program that runs the mutants", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "onboarding-mutants-test-"));
    mkdirSync(join(folder, "test"));
    for (const path of ["node_modules", "test/mutants"]) symlinkSync(join(ROOT, path), join(folder, path));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("learns from mocha which test failed first, that a process ended, or that a file cannot be loaded", async () => {
    const ran = (text: string) => {
      writeFileSync(join(folder, "made.mjs"), text);
      const env = process.env;
      return runMocha({ project: folder, tmp: folder, env, files: ["made.mjs"], bail: true, limitMs: 60_000, signal });
    };
    expect(await ran('it("is", () => {}); it("adds", () => { throw new Error("3 is not 4\\n"); });')).to.deep.equal(
      failedIn("made.mjs"),
    );
    expect(await ran('it("ends", () => process.exit(0));')).to.deep.equal(ENDED);
    expect(await ran('import "./missing.mjs";')).to.deep.equal(NOT_LOADED);
  });

  it("accepts what the compiler accepts, and parts that nothing uses any more", async () => {
    const options = { strict: true, noEmit: true, types: [], noUnusedLocals: true };
    const accepts = (text: string, compilerOptions: object = options) => {
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["made.ts"] }));
      writeFileSync(join(folder, "made.ts"), text);
      return isAccepted({ project: folder, memory: join(folder, "types"), signal });
    };
    expect(await accepts("export const size = (text: string | null) => true && text.length;")).to.equal(false);
    expect(await accepts("export const size = (text: string | null) => { return; const n = 1; };")).to.equal(true);
    expect(await accepts("export {};", { strickt: true }).catch(() => "no answer")).to.equal("no answer");
  });

  /**
   * Judges a change that two files of tests reach. `results` are made up, one for each run.
   * @returns what was found, and which files each run had; a run without the change begins with "unchanged".
   */
  async function judged(...results: MochaResult[]) {
    const runs: string[] = [];
    const bench = {
      compiles: () => Promise.resolve(true),
      run: (changes: ReadonlyMap<string, string>, { files }: { files: readonly string[] }) =>
        Promise.resolve(results[runs.push([...(changes.size === 0 ? ["unchanged"] : []), ...files].join(" ")) - 1]!),
    };
    const reach = ["other/a", "room/b", "room/made"].map((name, n) => ({
      file: `test/${name}.test.ts`,
      ids: new Set([n > 0 ? "7" : "8"]),
    }));
    const candidate = { id: "7", file: "src/room/made.ts", start: 0, end: 1, replacement: "" };
    const verdict = await new Judge(reach).verdictOf(bench, candidate, "changed");
    return [verdict && { red: verdict.red, why: verdict.why }, ...runs];
  }

  const [near, far] = ["test/room/made.test.ts", "test/room/b.test.ts"];
  const all = `${near} ${far}`;
  const survived = { red: false, why: "2 files of tests reach it" };

  it("runs the tests that reach a change, the nearest first, and counts it as survived if none fails", async () => {
    expect(await judged(GREEN)).to.deep.equal([survived, all]);
  });

  it("counts a failure only if its file fails again alone, and not without the change", async () => {
    const red = { red: true, why: `${far}: adds: 3 is not 4` };
    const failed = failedIn(far);
    expect(await judged(failed, failed, GREEN)).to.deep.equal([red, all, far, `unchanged ${far}`]);
    expect(await judged(failed, GREEN, GREEN)).to.deep.equal([survived, all, far, near]);
    expect(await judged(failed, failed, failed, GREEN)).to.deep.equal([survived, all, far, `unchanged ${far}`, near]);
  });

  it("counts tests that hang or end their process, twice and not without the change", async () => {
    const runs = [all, all, `unchanged ${all}`];
    expect(await judged(HUNG, HUNG, GREEN)).to.deep.equal([{ red: true, why: "timed out" }, ...runs]);
    const ended = { red: true, why: "the process of the tests ended in the middle of a test" };
    expect(await judged(ENDED, ENDED, GREEN)).to.deep.equal([ended, ...runs]);
    expect(await judged(failedIn(""), ENDED, ENDED)).to.deep.equal([survived, ...runs]);
  });

  it("does not judge a change with which the tests cannot be loaded", async () => {
    expect(await judged(NOT_LOADED)).to.deep.equal([undefined, all]);
  });

  it("draws the same changes for the same seed, and each change once", () => {
    const items = Array.from({ length: 100 }, (_, n) => n);
    expect(shuffled(items, 7)).to.deep.equal(shuffled(items, 7));
    expect(shuffled(items, 7)).not.to.deep.equal(shuffled(items, 8));
    expect(shuffled(items, 7)).to.have.members(items);
  });
});
