import { expect } from "chai";
import { abridge, type Abridger, CUT } from "../../src/pack/abridge.ts";

/** The weight that a PDF may have before its texts are cut. */
const BUDGET = 300_000;

describe("a pack that is too long for its PDF", () => {
  /** Returns the texts as the PDF shows them, and whether any of them was cut. */
  const shown = (texts: readonly string[]) =>
    abridge((abridger: Abridger) => ({
      texts: texts.map((text) => abridger.cut(text)),
      abridged: abridger.abridged,
      maxAnswers: abridger.maxAnswers,
    }));
  const lengths = (texts: readonly string[]) => [...new Set(shown(texts).texts.map(({ length }) => length))];

  it("is shown whole up to the budget, and a line in a table weighs 15", () => {
    const fits = "a".repeat(BUDGET - 15);
    expect(shown([fits])).to.deep.equal({ texts: [fits], abridged: false, maxAnswers: 1000 });
    const { texts, abridged, maxAnswers } = shown([`${fits}a`]);
    expect({ abridged, maxAnswers, length: texts[0]?.length }).to.deep.equal({
      abridged: true,
      maxAnswers: 200,
      length: 4000 + CUT.length,
    });
    expect(shown(["", "a".repeat(BUDGET - 30)]).abridged).to.equal(false);
    expect(shown(["", "a".repeat(BUDGET - 29)]).abridged).to.equal(true);
  });

  it("is cut shorter the more texts it has, down to 200, and then takes any number", () => {
    const of = (count: number) => Array.from({ length: count }, () => "a".repeat(5000));
    expect(lengths(of(59))).to.deep.equal([5000]);
    expect(lengths(of(74))).to.deep.equal([4000 + CUT.length]);
    expect(lengths(of(197))).to.deep.equal([1500 + CUT.length]);
    expect(lengths(of(480))).to.deep.equal([600 + CUT.length]);
    expect(lengths(of(5000))).to.deep.equal([200 + CUT.length]);
    expect(shown(of(5000)).maxAnswers).to.equal(4);
  });

  it("weighs what is slow to typeset: line breaks 16, other scripts 10, marks 4", () => {
    // 4000 of weight are shown of the first text, because the second one does not fit.
    const first = (text: string) => shown([text.repeat(5000), "a".repeat(BUDGET)]).texts[0]!.length - CUT.length;
    expect(first("a")).to.equal(4000);
    for (const lineBreak of ["\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029"])
      expect(first(lineBreak), JSON.stringify(lineBreak)).to.equal(4000 / 16);
    for (const other of ["\u0531", "漢", "ກ"]) expect(first(other), other).to.equal(400);
    for (const own of ["ж", "Ω", "\u2014", "\u052f", "\u206f"].slice(0, 4)) expect(first(own), own).to.equal(4000);
    expect(first("\u200b"), "a format character").to.equal(1000);
    expect(first("\u0007"), "a control character").to.equal(1000);
  });

  it("never splits what a reader sees as one character, unless it is longer than the text may be", () => {
    const family = "👨‍👩‍👧";
    const { texts } = shown([family.repeat(5000), "a".repeat(BUDGET)]);
    const kept = texts[0]!.slice(0, -CUT.length);
    expect(kept.replaceAll(family, "")).to.equal("");
    const endless = `a${"\u0301".repeat(5000)}`;
    expect(shown([endless, "a".repeat(BUDGET)]).texts[0]).to.equal(`${endless.slice(0, 1000)}${CUT}`);
  });

  it("says that answers were left out", () => {
    expect(abridge((abridger) => (abridger.leaveOut(), abridger.abridged))).to.equal(true);
  });

  it("lets other failures pass", () => {
    expect(() =>
      abridge(() => {
        throw new TypeError("another one");
      }),
    ).to.throw(TypeError, "another one");
  });
});
