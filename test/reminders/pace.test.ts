import { expect } from "chai";
import { Pace } from "../../src/reminders/pace.ts";

const go = new AbortController().signal;

describe("The pace of reminders", () => {
  it("spreads them evenly, and the first one waits too", async () => {
    const begun = performance.now();
    const pace = new Pace(1_200);
    const turns: number[] = [];
    for (let n = 1; n <= 4; n++) {
      await pace.turn(go);
      turns.push((performance.now() - begun) / n);
    }
    for (const gap of turns) expect(gap, "milliseconds for each").to.be.at.least(49);
  });

  it("makes up for no time that passed", async () => {
    const pace = new Pace(1_200);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const begun = performance.now();
    await pace.turn(go);
    await pace.turn(go);
    expect(performance.now() - begun).to.be.at.least(49);
  });

  it("ends at once if the work is told to stop", async () => {
    const stop = new AbortController();
    const turn = new Pace(1).turn(stop.signal);
    stop.abort();
    expect(await turn).to.equal(false);
    expect(await new Pace(1).turn(stop.signal)).to.equal(false);
  });
});
