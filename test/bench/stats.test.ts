import { expect } from "chai";
import { compare, inTurns } from "./in-turns.ts";
import { ratioRow, showRatio } from "./report.ts";
import { ratioOf, spreadOf } from "./stats.ts";

const TEN = Array.from({ length: 10 }, (_, n) => n);
/** Ten rounds in which both contenders slow down together, as on a machine whose clock falls. */
const REFERENCE = TEN.map((n) => 100 + 10 * n);
const cost = (value: number) => value;

describe("the bench's statistics", () => {
  it("gives median and quartiles", () => {
    expect(spreadOf([5, 1, 4, 2, 3])).to.deep.equal({ median: 3, q1: 2, q3: 4, rounds: 5 });
  });

  it("compares round by round: what disturbs both alike is no noise", () => {
    const ratio = ratioOf(
      REFERENCE.map((value) => 2 * value),
      REFERENCE,
    );
    expect(ratio).to.include({ noisy: false, median: 2 });
    expect(showRatio(ratio)).to.equal("2.00 (2.00-2.00)");
  });

  it("refuses to print the ratio of a noisy run", () => {
    const ratio = ratioOf(
      REFERENCE.map((value, n) => value * (n % 2 === 0 ? 1 : 3)),
      REFERENCE,
    );
    expect(ratio.noisy).to.equal(true);
    expect(showRatio(ratio)).to.equal("too noisy (10 rounds)");
    expect(ratioRow("CPU", ratio, 100, "the other")).to.include({ verdict: "too noisy", measured: showRatio(ratio) });
  });

  it("refuses so wide a spread for any number of rounds", () => {
    const many = Array.from({ length: 10_000 }, (_, n) => n);
    const ratio = ratioOf(
      many.map((n) => (n % 2 === 0 ? 1 : 3)),
      many.map(() => 1),
    );
    expect(ratio.noisy).to.equal(true);
  });

  it("refuses too few rounds, and values that are no numbers", () => {
    expect(ratioOf([1, 1, 1, 1], [1, 1, 1, 1]).noisy).to.equal(true);
    expect(ratioOf([1, 1, 1, 1, 1], [1, 1, 1, 1, NaN]).noisy).to.equal(true);
    expect(ratioOf([1, 1, 1, 1, 1], [1, 1, 1, 1, 1]).noisy).to.equal(false);
  });

  it("says whether a bound is met", () => {
    const ratio = ratioOf([2, 2, 2, 2, 2], [1, 1, 1, 1, 1]);
    expect(ratioRow("CPU", ratio, 2, "the other").verdict).to.equal("met");
    expect(ratioRow("CPU", ratio, 1.9, "the other").verdict).to.equal("not met");
  });
});

describe("the bench's rounds", () => {
  const pair = { measured: "a", reference: "b", cost };

  it("take turns, each beginning with another contender", async () => {
    const order: string[] = [];
    const measured = (name: string) => async () => order.push(name);
    await inTurns({ rounds: 2, maxRounds: 2 }, { a: measured("a"), b: measured("b"), c: measured("c") }, []);
    expect(order.join("")).to.equal("abcbca");
  });

  it("go on while a ratio is too noisy", async () => {
    let n = 0;
    const calmLater = async () => (n++ < 3 ? 100 * n : 1);
    const rounds = await inTurns({ rounds: 5, maxRounds: 50 }, { a: calmLater, b: async () => 1 }, [pair]);
    expect(rounds.get("a")?.length).to.be.within(6, 49);
    expect(compare(rounds, pair)).to.include({ noisy: false, median: 1 });
  });

  it("end with noise that does not", async () => {
    let n = 0;
    const wild = async () => (n++ % 2 === 0 ? 1 : 3);
    const rounds = await inTurns({ rounds: 5, maxRounds: 8 }, { a: wild, b: async () => 1 }, [pair]);
    expect(rounds.get("a")).to.have.length(8);
    expect(compare(rounds, pair).noisy).to.equal(true);
  });
});
