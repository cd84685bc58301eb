import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { withRows } from "./readme.ts";
import { exitCodeOf, metOf, notMeasured, type Section, textOf } from "./report.ts";

const met = { what: "CPU", bound: "<= 1 x bare", measured: "0.90 (0.88-0.92)", verdict: "met" } as const;
const SECTION: Section = {
  title: "Section one",
  rows: [met],
  tables: [{ title: "Costs", head: ["contender", "µs"], rows: [["ours & theirs", "44"]], caption: "Of one request." }],
};

describe("the bench's report", () => {
  it("has tables, and says of every row whether its bound is met", async () => {
    const text = await textOf(SECTION);
    for (const cell of ["CPU", "<= 1 x bare", "0.90 (0.88-0.92)", "yes", "ours & theirs", "Of one request."])
      expect(text).to.contain(cell);
    expect(metOf({ ...met, verdict: "not met" })).to.equal("no");
    expect(metOf({ ...met, verdict: "too noisy" })).to.equal("unknown");
    expect(metOf(notMeasured("CPU", "<= 1 x bare", "out of time"))).to.equal("unknown");
    expect(metOf({ ...met, bound: "" })).to.equal("–");
  });
});

describe("the bench's README", () => {
  const file = fileURLToPath(new URL("README.md", import.meta.url));
  const rowsOf = (readme: string) => readme.split("\n").filter((line) => line.startsWith("| "));

  it("gets the rows of the parts that were measured, and keeps all others", async () => {
    const before = await readFile(file, "utf8");
    const rows = [{ ...met, measured: "1 | 2", verdict: "not met" as const }];
    const after = await withRows(before, new Map([["read", rows]]), { on: "today", file });
    const cells = rowsOf(after).map((line) => line.replaceAll(/ +/g, " "));
    expect(cells).to.include("| read | CPU | <= 1 x bare | 1 \\| 2 | no | today |");
    const others = (readme: string) => rowsOf(readme).map((line) => line.replaceAll(/ +|-+/g, " "));
    const isOfRead = (line: string) => line.startsWith("| read ");
    expect(others(before).filter(isOfRead)).to.have.length(2);
    expect(others(after).filter((line) => !isOfRead(line))).to.deep.equal(
      others(before).filter((line) => !isOfRead(line)),
    );
    const again = await withRows(after, new Map([["read", rows]]), { on: "today", file });
    expect(again).to.equal(after);
  });

  it("stays as it is if nothing was measured", async () => {
    const before = await readFile(file, "utf8");
    expect(await withRows(before, new Map(), { on: "today", file })).to.equal(before);
  });
});

describe("the bench's exit code", () => {
  const codeOf = (row: Partial<Section["rows"][number]>) => exitCodeOf([{ ...SECTION, rows: [{ ...met, ...row }] }]);

  it("is 0 if every bound was measured", () => {
    expect(codeOf({ verdict: "met" })).to.equal(0);
    expect(codeOf({ verdict: "not met" })).to.equal(0);
  });

  it("is 2 if a row is too noisy or not measured, and 1 if a part failed", () => {
    expect(codeOf({ verdict: "too noisy" })).to.equal(2);
    expect(codeOf(notMeasured("CPU", "", "out of time"))).to.equal(2);
    expect(exitCodeOf([SECTION, { ...SECTION, failed: true }])).to.equal(1);
  });
});
