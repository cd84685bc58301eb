import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import type { Bench } from "./bench.ts";
import { isAccepted } from "./compiler.ts";
import { shuffled } from "./draw.ts";
import { namedEqual } from "./equal.ts";
import { judgedTwice } from "./judged-twice.ts";
import { changeOf, reaches, summaryOf } from "./report.ts";
import { runMocha } from "./run-mocha.ts";
import { type Verdict, verdictOf } from "./verdict.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

describe("the program that runs the mutants", () => {
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "onboarding-mutants-test-"));
    await mkdir(join(folder, "test"));
    for (const path of ["node_modules", "test/mutants"]) symlinkSync(join(ROOT, path), join(folder, path));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Judges a file of tests with this text. */
  async function judged(text: string, limitMs = 30_000): Promise<Verdict> {
    writeFileSync(join(folder, "made.mjs"), text);
    const files = ["made.mjs"];
    const signal = new AbortController().signal;
    return verdictOf(
      await runMocha({ project: folder, tmp: folder, env: process.env, files, bail: true, limitMs, signal }),
    );
  }

  it("counts a change as noticed if a test fails, hangs, or ends the process", async () => {
    const failed = await judged('it("adds", () => { throw new Error("3 is not 4"); });');
    expect(failed).to.include({ kind: "red", why: "made.mjs: adds: 3 is not 4" });
    const ended = await judged('it("ends", () => process.exit(0));');
    expect(ended.kind).to.equal("red");
    expect(ended.why).to.match(/ended in the middle/);
    const hung = await judged('it("hangs", () => { for (;;); });', 3_000);
    expect(hung).to.include({ kind: "red", why: "timed out" });
  });

  it("counts a change as not noticed only if a test ran and none failed", async () => {
    expect((await judged('it("passes", () => {});')).kind).to.equal("survived");
    expect(await judged('it("is skipped");')).to.include({ kind: "error", why: "no test ran" });
  });

  it("does not count a change that cannot be loaded as noticed", async () => {
    const verdict = await judged('import "./missing.mjs";');
    expect(verdict.kind).to.equal("error");
    expect(verdict.why).to.match(/cannot be loaded.*missing\.mjs/s);
  });

  it("does not judge what the compiler refuses, but allows parts that nothing uses any more", async function () {
    this.timeout(60_000);
    const project = join(folder, "typed");
    await mkdir(project);
    symlinkSync(join(ROOT, "node_modules"), join(project, "node_modules"));
    const options = { strict: true, noEmit: true, types: [], noUnusedLocals: true, noUnusedParameters: true };
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: options }));
    const accepts = (text: string) => {
      writeFileSync(join(project, "made.ts"), text);
      return isAccepted({ project, memory: join(folder, "types"), signal: new AbortController().signal });
    };
    expect(await accepts("export const size = (text: string | null) => text !== null && text.length;")).to.equal(true);
    expect(await accepts("export const size = (text: string | null) => true && text.length;")).to.equal(false);
    expect(await accepts("export const size = (text: string | null) => { return; const n = 1; };")).to.equal(true);
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions: { strickt: true } }));
    expect(await accepts("export {};").catch(() => "no answer")).to.equal("no answer");
  });

  /** Judges with made-up results, one for each run. @returns also which files each run had. */
  async function judgedWith(files: string[], ...failures: (string | undefined)[]) {
    const runs: (readonly string[])[] = [];
    const run: Bench["run"] = async (_changes, { files: given }) => {
      const file = failures[runs.push(given) - 1];
      const red = file !== undefined && { first: { file, title: "adds", error: "3 is not 4" } };
      const outcome = { ended: true, passed: 1, failed: red ? 1 : 0, ...red };
      return { outcome, timedOut: false, output: "", seconds: 2 };
    };
    const { culprit, verdict } = await judgedTwice({ run }, new Map(), { files, limitMs: 1_000 });
    return { culprit, kind: verdict.kind, seconds: verdict.seconds, runs };
  }

  it("counts a failure as noticed only if its file fails again alone", async () => {
    const [files, culprit] = [["test/a.test.ts", "test/b"], "test/b/c.test.ts"];
    const runs = [files, [culprit]];
    expect(await judgedWith(files, culprit, culprit)).to.deep.equal({ culprit, kind: "red", seconds: 4, runs });
    expect(await judgedWith(files, culprit, undefined)).to.deep.equal({ culprit, kind: "survived", seconds: 4, runs });
  });

  it("runs nothing again if no file failed, or if the failure names none of the files", async () => {
    const [files, culprit] = [["test/a.test.ts"], undefined];
    const once = { culprit, seconds: 2, runs: [files] };
    expect(await judgedWith(files, undefined)).to.deep.equal({ ...once, kind: "survived" });
    expect(await judgedWith(files, "")).to.deep.equal({ ...once, kind: "red" });
  });

  it("knows a change by chance that a row of the table names as equal, whatever its spaces and brackets", () => {
    const [file, text] = ["src/a.ts", "export const over = (n: number) => n > 7 && n !== 7; // not 7"];
    const row = { file, before: "n > 7 &&", after: "true &&", red: [], equal: "A reason." };
    const verdict = (after: string, rows = [row]) => namedEqual(rows, { file, text, after });
    const same = "export const over = (n: number) => (true) && (n !== 7);";
    expect(verdict(same)).to.deep.equal({ kind: "equal", why: "A reason.", seconds: 0 });
    expect(verdict(text.replace("n > 7", "n >= 7"))).to.equal(undefined);
    expect(verdict(same, [{ ...row, file: "src/b.ts" }])).to.equal(undefined);
    const { equal: _, ...tried } = row;
    expect(namedEqual([tried], { file, text, after: same })).to.equal(undefined);
  });

  it("draws the same changes for the same seed, and each change once", () => {
    const items = Array.from({ length: 100 }, (_, n) => n);
    expect(shuffled(items, 7)).to.deep.equal(shuffled(items, 7));
    expect(shuffled(items, 7)).not.to.deep.equal(shuffled(items, 8));
    expect(shuffled(items, 7)).to.have.members(items);
  });

  it("shows what was changed, and leaves equal rows out of the percentage", () => {
    expect(changeOf("if (a < b) return c;", "if (a <= b) return c;")).to.equal("< → <=");
    const rows = (["red", "red", "red", "survived", "equal"] as const).map((kind) => ({ kind }));
    expect(summaryOf(rows)).to.equal("5 rows, 3 red (75.0 %), 1 survived, 1 equal");
    expect([reaches(0.75, rows), reaches(0.76, rows)]).to.deep.equal([true, false]);
  });
});
