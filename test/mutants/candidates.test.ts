import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { candidatesIn, changed } from "./candidates.ts";

const FILES: Record<string, string> = {
  "src/limit.ts": [
    "export function isOver(used: number, limit: number): boolean {",
    '  if (limit < 0) throw new RangeError("a wording that no client sees");',
    '  log.warn({ used, reason: "over" }, "a log line");',
    '  const [, reason = ""] = "limit:day".split(":");',
    '  const late = new DOMException("another wording", "TimeoutError");',
    "  return used > limit && limit !== 0 || used === 7;",
    "}",
  ].join("\n"),
  "src/dev/tool.ts": "export const two = 1 + 1;",
  "src/types.gen.ts": "export const three = 1 + 2;",
};

describe("the changes by chance", () => {
  let root: string;
  let texts: string[];
  before(async () => {
    root = mkdtempSync(join(tmpdir(), "onboarding-candidates-"));
    for (const [file, text] of Object.entries(FILES)) {
      mkdirSync(join(root, dirname(file)), { recursive: true });
      writeFileSync(join(root, file), text);
    }
    const { all } = await candidatesIn(root);
    texts = all.map((candidate) => changed(FILES[candidate.file] ?? "", candidate));
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  it("turn comparisons and conditions round, and keep the operators around them apart", () => {
    expect(texts.some((text) => text.includes("return (used >= limit) && limit !== 0 || used === 7;"))).to.equal(true);
    expect(texts.some((text) => text.includes("return (used > limit || limit !== 0) || used === 7;"))).to.equal(true);
    expect(texts.some((text) => text.includes("if (true) throw"))).to.equal(true);
  });

  it("change a log line's fields, but not its wording, nor an error's", () => {
    expect(texts.some((text) => text.includes('reason: ""'))).to.equal(true);
    for (const text of texts.filter((text) => text.includes("isOver(used: number, limit: number): boolean {\n  if"))) {
      expect(text).to.include('"a wording that no client sees"');
      expect(text).to.include('"a log line"');
      expect(text).to.include('"another wording"');
    }
  });

  it("leave the default of a list's item, which only the compiler asks for", () => {
    for (const text of texts.filter((text) => text.includes("const [")))
      expect(text).to.include('const [, reason = ""] =');
  });

  it("leave out what only developers run, and what machines wrote", () => {
    expect(texts.join("\n")).not.to.match(/two|three/);
  });
});
