import { existsSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { expect } from "chai";
import pLimit from "p-limit";
import { allConfigurations, check, type Checked } from "./check.ts";
import type { Configuration } from "./configuration.ts";

const all = await allConfigurations();
const configurations = all.filter(({ size }) => size === "small");

/** Linux shares the cores among sessions, such as mocha with what it starts, by a nice value in this file. */
const NICE = "/proc/self/autogroup";

function setNice(value: number): void {
  try {
    if (existsSync(NICE)) writeFileSync(NICE, `${value}`);
  } catch {
    // Only root may lower it. Then the traces have the high one, too.
  }
}

describe("the models, checked by TLC:", function () {
  this.timeout(1_800_000);
  const checks = new Map<string, Promise<Checked>>();
  // Much of a short run is Java's start, on one core. So as many run side by side as there are cores.
  // They need nothing but CPU time, so they run at a lower priority than the suites beside them.
  before(() => {
    setNice(10);
    const limit = pLimit(availableParallelism());
    for (const configuration of configurations) {
      const checked = limit(() => check(configuration));
      checked.catch(() => undefined); // its test reports it
      checks.set(configuration.name, checked);
    }
  });
  after(() => setNice(0));

  for (const { name, about, violates } of configurations) {
    const must = violates === undefined ? "holds" : `violates ${violates}`;
    it(`${name} ${must}: ${about}`, async () => {
      const { run, asItShould, verdict } = await checks.get(name)!;
      if (!asItShould) expect.fail(`${verdict}\n${run.counterexample ?? ""}`);
    });
  }

  it("each mutant of the feed has a twin that must hold: the same constants, with all protections", () => {
    const feed = all.filter(({ module }) => module === "Feed");
    const constantsOf = ({ constants }: Configuration) => JSON.stringify({ ...constants, Protections: "" });
    const holding = new Set(feed.filter(({ violates }) => violates === undefined).map(constantsOf));
    const alone = feed.filter(({ violates, ...each }) => violates !== undefined && !holding.has(constantsOf(each)));
    expect(alone.map(({ name }) => name)).to.deep.equal([]);
  });

  it("no two configurations have the same name", () => {
    expect(checks.size).to.equal(configurations.length);
  });
});
