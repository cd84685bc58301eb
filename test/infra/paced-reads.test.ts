import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { pacedReads } from "../../src/infra/paced-reads.ts";

describe("Paced reads", () => {
  /** Counts its reads. */
  function counting(everyMs: number) {
    const reads = pacedReads<number>(everyMs);
    const began: number[] = [];
    const read = (key: string) => reads(key, () => Promise.resolve(began.push(performance.now())));
    return { read, began, begun: () => began.length };
  }

  it("begin at once, and those that come soon after share the next one", async () => {
    const { read } = counting(50);
    const began = performance.now();
    const replies = [read("a"), read("a"), read("a")];
    expect(await replies[0]).to.equal(1);
    expect(await Promise.all(replies.slice(1))).to.deep.equal([2, 2]);
    expect(performance.now() - began).to.be.at.least(45);
  });

  it("of different keys do not wait for each other", async () => {
    const { read, begun } = counting(50);
    void read("a");
    expect(await read("b")).to.equal(2);
    expect(begun()).to.equal(2);
  });

  it("keep their distance from a read that had waited itself", async () => {
    const { read, began } = counting(50);
    void read("a");
    await read("a");
    expect(await read("a")).to.equal(3);
    const [, second = 0, third = 0] = began;
    expect(third - second).to.be.at.least(45);
  });

  it("begin at once again after a pause without any", async () => {
    const { read, begun } = counting(10);
    void read("a");
    await setTimeout(100); // much longer than the pause, and no event tells its end
    void read("a");
    expect(begun()).to.equal(2);
  });
});
