import { expect } from "chai";
import fc from "fast-check";
import { printable, printableLine } from "../../src/pack/printable.ts";

const BREAK = "\u200B";
/** A place where a break is allowed, said as a regular expression. Too slow for long text, but independent of the code. */
const PLACE =
  /.{12}(?:.{0,11}?(?<=[\p{L}\p{N}\p{P}\p{S}])(?<!\p{RI})|.{12}.*?)(?=[\p{L}\p{N}\p{P}\p{S}])(?!\p{RI}|\p{Emoji_Modifier})/gsu;

/** Returns the text between the isolates. */
const inner = (line: string) => line.replace(/^\u2068|\u2069$/g, "");

describe("printable text", () => {
  const LINES: [text: string, printed: string][] = [
    ["Ann Other", "Ann Other"],
    ["  two \t words ", "two words"],
    ["a\u0000b\u202Ec", "a\uFFFDb\uFFFDc"],
    ["\u202AJohn\u202C \u2068Smith\u2069", "John Smith"],
    ["W".repeat(24), "W".repeat(24)],
    ["W".repeat(25), `${"W".repeat(12)}${BREAK}${"W".repeat(12)}${BREAK}W`],
    ["👩‍👩‍👧".repeat(6), `${"👩‍👩‍👧".repeat(3)}${BREAK}${"👩‍👩‍👧".repeat(3)}`],
    ["🇫🇷".repeat(20), "🇫🇷".repeat(20)],
    ["a\u0301".repeat(13), `${"a\u0301".repeat(12)}${BREAK}a\u0301`],
    ["क्".repeat(13), `${"क्".repeat(12)}${BREAK}क्`],
    [`a${"\u0301".repeat(20)}b`, `a${"\u0301".repeat(20)}b`],
    [`a${"\u0301".repeat(500)}b`, `a${"\u0301".repeat(20)}\uFFFDb`],
  ];
  for (const [text, printed] of LINES) {
    it(`of ${JSON.stringify(text.slice(0, 24))} is ${JSON.stringify(printed.slice(0, 30))}`, () => {
      expect(inner(printableLine(text))).to.equal(printed);
    });
  }

  it("keeps its lines apart, whatever ends them", () => {
    const line = (text: string) => `\u2068${text}\u2069`;
    for (const end of ["\n", "\r", "\r\n", "\v", "\f", "\u0085", "\u2028", "\u2029"])
      expect(printable(`one${end}two v`), JSON.stringify(end)).to.equal(`${line("one")}\n${line("two v")}`);
    expect(printable("one\n\n two")).to.equal(`${line("one")}\n\n${line("two")}`);
    expect(printableLine("one\r\n\u0085 two")).to.equal(line("one two"));
  });

  it("is nothing if the text is blank", () => {
    for (const blank of ["", "  ", "\t\n"]) expect(printableLine(blank)).to.equal("");
    expect(printable("\n")).to.equal("\n");
  });

  it("has breaks where they are allowed, and is otherwise the text", () => {
    const unit = fc.constantFrom(
      "a",
      "é",
      "e\u0301",
      "\u0301",
      "🇫",
      "👍",
      "🏽",
      "\u200D",
      "ش",
      "क्",
      "山",
      "-",
      "\uD800",
      " ",
    );
    const text = fc.oneof(
      fc.string({ unit, maxLength: 150 }),
      fc.string({ unit: "binary", minLength: 20, maxLength: 150 }),
    );
    fc.assert(
      fc.property(text, (given) => {
        const line = inner(printableLine(given));
        const plain = given
          .replace(/[\s\u0085]+/g, " ")
          .replace(/[\p{Cc}\p{Noncharacter_Code_Point}\u202D\u202E]/gu, "\uFFFD")
          .replace(/\p{Default_Ignorable_Code_Point}|\p{Bidi_Control}/gu, (each) =>
            /[\u200C\u200D\p{Variation_Selector}]/u.test(each) ? each : "",
          )
          .replace(/(?<=\p{M}{20})\p{M}+/gu, "\uFFFD")
          .trim();
        expect(line.replaceAll(BREAK, "")).to.equal(plain.replaceAll(BREAK, ""));
        expect(line).to.equal(plain.replace(/[^\s\u200B]{25,}/gu, (word) => word.replace(PLACE, `$&${BREAK}`)));
      }),
      { numRuns: 300 },
    );
  });

  it("takes time in proportion to its length, even if a word has no place for a break", () => {
    const [short, long] = [4_000, 32_000].map((length) => "a\u0301".repeat(length)) as [string, string];
    const costOf = (text: string) => {
      const before = process.cpuUsage();
      printable(text);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    // Alternately, and the least of each: the first runs wait for the compiler, and others for the garbage collector.
    const costs = Array.from({ length: 15 }, () => [costOf(short), costOf(long)] as const);
    const least = (which: 0 | 1) => Math.min(...costs.map((cost) => cost[which]));
    // A quadratic scan takes 64 times as long for eight times the text.
    expect(least(1) / least(0)).to.be.lessThan(24);
  });
});
