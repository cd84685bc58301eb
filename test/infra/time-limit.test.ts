import { EventEmitter, once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { TimeLimit } from "../../src/infra/time-limit.ts";
import { standStill } from "../support/stand-still.ts";

const MS = 200;

describe("a time limit", () => {
  /** Starts a limit. `passed` tells when it was over, in milliseconds since then. */
  function started() {
    const began = performance.now();
    const events = new EventEmitter();
    const over: number[] = [];
    const now = () => performance.now() - began;
    const limit = new TimeLimit(MS, () => {
      over.push(now());
      events.emit("over");
    });
    return { over, limit, now, passed: () => once(events, "over") };
  }

  it("is over once, after its time", async () => {
    const { over, limit, passed } = started();
    await passed();
    await setTimeout(MS);
    expect(over).to.have.length(1);
    expect(over[0]).to.be.at.least(MS);
    expect(limit.leftMs).to.equal(0);
  });

  it("counts little of the time in which the process stood still, however long that was", async () => {
    const { over, limit, passed } = started();
    standStill(3 * MS);
    expect(limit.leftMs).to.be.at.least(0.7 * MS);
    await passed();
    expect(over[0]).to.be.at.least(3.7 * MS);
  });

  it("is never over once it was cleared", async () => {
    const { over, limit } = started();
    limit.clear();
    await setTimeout(2 * MS);
    expect(over).to.deep.equal([]);
  });

  it("begins again, also if it is over", async () => {
    const { over, limit, passed, now } = started();
    await setTimeout(0.5 * MS); // Node may end it a little early, so the restart says when it was
    for (const n of [0, 1]) {
      const restarted = now();
      limit.restart();
      await passed();
      expect(over[n]).to.be.at.least(restarted + MS);
    }
  });
});
