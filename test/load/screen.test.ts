import { expect } from "chai";
import type { Outcome } from "./lib/host.ts";
import { Run } from "./lib/run.ts";
import { readSettings } from "./lib/settings.ts";
import { Figures } from "./node/figures.ts";
import { Screen } from "./node/screen.ts";

const OUTCOME: Outcome = {
  surface: "list",
  key: 0,
  verdict: "admitted",
  window: 0,
  fault: undefined,
  answer: { status: 200, headers: {}, body: "", ms: 12.3 },
};

describe("the screen of npm run load", () => {
  it("redraws the table and a progress bar on a terminal, and erases both at the end", async () => {
    const figures = new Figures();
    figures.add(OUTCOME);
    const written: string[] = [];
    let drawn = (): void => undefined;
    const drawnTwice = new Promise<void>((resolve) => {
      drawn = () => written.filter((text) => text.includes("░")).length === 2 && resolve();
    });
    const write = (text: string): void => {
      written.push(text);
      drawn();
    };
    const screen = new Screen({ isTTY: true, write }, figures);
    const run = new Run(readSettings({ BASE_URL: "http://localhost", KEYS: "k" }), {
      exchange: () => Promise.resolve(OUTCOME.answer),
      sleep: () => Promise.resolve(),
      say: () => undefined,
      stopped: () => false,
      seen: () => undefined,
    });
    run.planned = 4;
    await run.send({ method: "GET", path: "/candidates", surface: "list", key: 0 });
    screen.start(run);
    await drawnTwice;
    screen.stop();
    const [first = "", up = "", second] = written;
    expect(first)
      .to.match(/list +│ +1 │ +1 │/)
      .and.to.include(`${"█".repeat(10)}${"░".repeat(30)} 1 of about 4 requests`);
    expect(second).to.equal(first);
    expect(up).to.equal(`\u001b[${first.split("\n").length - 1}A\u001b[J`);
    expect(written.at(-1)).to.equal(up);
  });
});

describe("the figures of npm run load", () => {
  it("count by surface and by key, and draw the latencies as text", () => {
    const figures = new Figures();
    figures.add(OUTCOME);
    figures.add({ ...OUTCOME, key: 1, verdict: "account", answer: { ...OUTCOME.answer, ms: 70_000 } });
    figures.add({ ...OUTCOME, surface: "free", verdict: "free", fault: "wrong" });
    expect(figures.bySurface())
      .to.match(/list +│ +2 │ +1 │ +1 │ +0 │ +0 │/)
      .and.not.to.include("free");
    expect(figures.byKey())
      .to.match(/key 2 +│ +1 │ +0 │ +1 │/)
      .and.to.match(/all keys +│ +2 │ +1 │ +1 │ +0 │ +1 │/);
    expect(figures.histogram()).to.match(/≤ 20 ms █+ 2\n +longer █+ 1/);
    expect(figures.slices()).to.have.length(1);
    expect(figures.slices()[0]).to.include({ second: 0, admitted: 1, account: 1, failed: 1 });
  });
});
