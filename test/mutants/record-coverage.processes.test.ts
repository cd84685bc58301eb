import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";

const RECORDER = new URL("record-coverage.mjs", import.meta.url);

describe("what a process reaches", () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "onboarding-coverage-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  for (const [how, end] of [
    ["has nothing left to do", ""],
    ["calls process.exit", "process.exit();"],
  ] as const)
    it(`is recorded to the last listener of exit, if it ${how}`, async () => {
      const source = `import ${JSON.stringify(`${RECORDER.href}?folder=${encodeURIComponent(folder)}`)};
        const reached = {};
        globalThis.__stryker__ = { mutantCoverage: { static: reached } };
        reached[1] = 1;
        process.once("exit", () => (reached[2] = 1));
        ${end}`;
      await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", source]);
      expect(readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"))).to.deep.equal(["1\n2"]);
    });
});
