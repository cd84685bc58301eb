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

  // A letter of another script weighs 10. Texts of them are short, so measuring them takes no time.
  const of = (weight: number) => "漢".repeat(Math.floor(weight / 10)) + "a".repeat(weight % 10);

  it("is shown whole up to the budget, and a line in a table weighs 40", () => {
    const fits = of(BUDGET - 40);
    expect(shown([fits])).to.deep.equal({ texts: [fits], abridged: false, maxAnswers: 1000 });
    expect(shown([`${fits}a`])).to.deep.equal({
      texts: [`${"漢".repeat(400)}${CUT}`],
      abridged: true,
      maxAnswers: 200,
    });
    expect(shown(["", of(BUDGET - 80)]).abridged).to.equal(false);
    expect(shown(["", of(BUDGET - 79)]).abridged).to.equal(true);
  });

  it("is cut shorter the more texts it has, down to a weight of 80, and then takes any number", () => {
    const many = (count: number) => shown(Array.from({ length: count }, () => of(5000)));
    for (const [count, length, maxAnswers] of [
      [59, 500, 1000],
      [74, 400 + CUT.length, 200],
      [194, 150 + CUT.length, 60],
      [550, 50 + CUT.length, 15],
      [1400, 8 + CUT.length, 2],
    ] as const) {
      const { texts, ...rest } = many(count);
      expect([...new Set(texts.map((text) => text.length))], String(count)).to.deep.equal([length]);
      expect(rest, String(count)).to.deep.equal({ abridged: count > 59, maxAnswers });
    }
  });

  it("weighs what is slow to typeset: line breaks 16, other scripts 10, marks 4", () => {
    // 4000 of weight are shown of the first text, because the second one does not fit.
    const first = (text: string) => shown([text.repeat(5000), of(BUDGET)]).texts[0]!.length - CUT.length;
    expect(first("a")).to.equal(4000);
    for (const lineBreak of ["\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029"])
      expect(first(lineBreak), JSON.stringify(lineBreak)).to.equal(4000 / 16);
    for (const other of ["\u0530", "\u0531", "ກ", "漢", "\u1fff", "\u2070"])
      expect(first(other), JSON.stringify(other)).to.equal(400);
    for (const own of ["ж", "Ω", "\u2000", "\u2014", "\u052f"]) expect(first(own), JSON.stringify(own)).to.equal(4000);
    expect(first("\u200b"), "a format character").to.equal(1000);
    expect(first("\u0007"), "a control character").to.equal(1000);
  });

  it("never splits what a reader sees as one character, unless it is longer than the text may be", () => {
    const family = "👨‍👩‍👧";
    const { texts } = shown([family.repeat(5000), of(BUDGET)]);
    const kept = texts[0]!.slice(0, -CUT.length);
    expect(kept.replaceAll(family, "")).to.equal("");
    const endless = `a${"\u0301".repeat(5000)}`;
    expect(shown([endless, of(BUDGET)]).texts[0]).to.equal(`${endless.slice(0, 1000)}${CUT}`);
  });

  it("lets other failures pass", () => {
    expect(() =>
      abridge(() => {
        throw new TypeError("another one");
      }),
    ).to.throw(TypeError, "another one");
  });
});
