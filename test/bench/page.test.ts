import { expect } from "chai";
import { lineChart, stackedBars } from "./charts.ts";
import { pageOf } from "./page.ts";
import { exitCodeOf, notMeasured, type Section } from "./report.ts";
import { textOf } from "./terminal.ts";

const points = [
  { series: "ours", x: 1, y: 2 },
  { series: "theirs", x: 10, y: 3 },
];
const axes = { title: "Ours is first", caption: "In short.", xTitle: "connections", yTitle: "latency, ms", points };
const SECTION: Section = {
  title: "Section <one>",
  rows: [{ what: "CPU", bound: "<= 1 x bare", measured: "0.90 (0.88-0.92)", verdict: "met" }],
  tables: [{ title: "Costs", head: ["contender", "µs"], rows: [["ours & theirs", "44"]], caption: "Of one request." }],
  charts: [lineChart({ ...axes, log: true, edges: [2] }), stackedBars(axes)],
};
const ABOUT = { date: "2026-11-23T00:00:00.000Z", node: "20.19.0", cores: 2, engine: "mongod 8.0.0" };

describe("the bench's page", () => {
  it("has plots with titles, axes with units and captions, and loads nothing", async () => {
    const page = await pageOf([SECTION], ABOUT);
    expect(page.match(/<svg/g)).to.have.length(2);
    for (const text of ["Ours is first", "latency, ms", "In short.", "Section &lt;one&gt;", "ours &amp; theirs"])
      expect(page).to.contain(text);
    expect(page.replaceAll(/xmlns(:\w+)?="[^"]*"/g, "")).not.to.match(/https?:|<script|<link| src=/);
  });

  it("says on the terminal what it says on the page", () => {
    const text = textOf(SECTION);
    for (const cell of ["CPU", "<= 1 x bare", "0.90 (0.88-0.92)", "met", "ours & theirs", "Of one request."])
      expect(text).to.contain(cell);
  });
});

describe("the bench's exit code", () => {
  const codeOf = (row: Partial<Section["rows"][number]>) => exitCodeOf([{ ...SECTION, rows: [{ ...met, ...row }] }]);
  const met = { what: "CPU", bound: "<= 1 x bare", measured: "0.90", verdict: "met" } as const;

  it("is 0 if every bound that the machine can measure was measured", () => {
    expect(codeOf({ verdict: "met" })).to.equal(0);
    expect(codeOf({ verdict: "not met" })).to.equal(0);
    expect(codeOf({ ...notMeasured("CPU", "", "2 cores"), needsCores: true })).to.equal(0);
  });

  it("is 2 if a row is too noisy or not measured, and 1 if a part failed", () => {
    expect(codeOf({ verdict: "too noisy" })).to.equal(2);
    expect(codeOf(notMeasured("CPU", "", "out of time"))).to.equal(2);
    expect(exitCodeOf([SECTION, { ...SECTION, failed: true }])).to.equal(1);
  });
});
