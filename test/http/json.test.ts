import { expect } from "chai";
import { MAX_DEPTH, MAX_VALUES, parseJson } from "../../src/http/json.ts";
import { Problem } from "../../src/problems.ts";

const parse = (text: string, maxValues?: number) => parseJson(Buffer.from(text), maxValues);

/** Returns the code and the detail of the problem that a text is refused with. */
function refusal(text: string | Buffer, maxValues?: number): [string, string] {
  try {
    parseJson(Buffer.from(text as string), maxValues);
  } catch (error) {
    if (error instanceof Problem) return [error.code, error.detail];
    throw error;
  }
  throw new Error("The text was expected to be refused.");
}

describe("a JSON body", () => {
  const COUNTS: [text: string, values: number][] = [
    ["7", 0],
    ['"[,:{"', 0],
    ['"\\"[,"', 0],
    ['"\\\\"', 0],
    ["[]", 0],
    ["{}", 0],
    ["[ \t\r\n]", 0],
    ["[1]", 1],
    ["[[]]", 1],
    ["[{}]", 1],
    ['[""]', 1],
    ["[1,2,3]", 3],
    ['{"a":1}', 1],
    ['{"a":[1,{"b":2}],"c":"x,y"}', 5],
    ['{"a":{},"b":[],"c":[[]]}', 4],
    ['["a\\\\","b"]', 2],
  ];
  for (const [text, values] of COUNTS)
    it(`has ${values} values if it is ${JSON.stringify(text)}`, () => {
      expect(parse(text)).to.deep.equal({ value: JSON.parse(text), faults: [], values });
      expect(parse(text, values).values, "as many as allowed").to.equal(values);
      if (values > 0)
        expect(refusal(text, values - 1)).to.deep.equal([
          "payload_too_large",
          `The body has too many values. Send at most ${MAX_VALUES} members and items in all.`,
        ]);
    });

  it("may be 100 levels deep, in lists and objects, however often", () => {
    const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
    const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    for (const of of [nested, objects]) {
      expect(parse(of(MAX_DEPTH)).faults).to.deep.equal([]);
      expect(parse(`[${of(MAX_DEPTH - 1)},${of(MAX_DEPTH - 1)}]`).faults, "beside each other").to.deep.equal([]);
      for (const text of [of(MAX_DEPTH + 1), `[1,${of(MAX_DEPTH)},[]]`])
        expect(refusal(text)).to.deep.equal([
          "malformed_json",
          "The body is nested too deeply. Send at most 100 levels.",
        ]);
    }
    expect(parse(`"${"[".repeat(101)}"`).faults, "in a text").to.deep.equal([]);
  });

  const MALFORMED: [text: string, reason: string][] = [
    ["", "it ends too early, or contains a character that JSON does not allow"],
    ["[1 2]", "unexpected text at line 1, column 4"],
    ['{"a":1,}', "unexpected text at line 1, column 8"],
    ['{\n"a":1,\n  }', "unexpected text at line 3, column 3"],
    ["[1]\n\n[", "unexpected text at line 3, column 1"],
    ['{"\\x":1,"\\x":2}', "unexpected text at line 1, column 4"],
    ['{"a":1,"a":1', "unexpected text at line 1, column 13"],
    ["]]1:2", "it ends too early, or contains a character that JSON does not allow"],
  ];
  for (const [text, reason] of MALFORMED)
    it(`is refused with the place of its mistake if it is ${JSON.stringify(text)}`, () => {
      expect(refusal(text)).to.deep.equal(["malformed_json", `The body is not JSON: ${reason}. Send a JSON object.`]);
    });

  it("is refused if it is not UTF-8", () => {
    expect(refusal(Buffer.of(0x22, 0xff, 0x22))).to.deep.equal([
      "malformed_json",
      "The body is not UTF-8. Send JSON in UTF-8.",
    ]);
  });

  const TWICE: [text: string, place: string][] = [
    ['{"a":1,"a":1}', "line 1, column 8"],
    ['{"b":{"a":1,\n "a":{}}}', "line 2, column 2"],
    ['[{"a":[{"b":null,"b":null}]}]', "line 1, column 18"],
    ['{"a":{"b":1},"c":{"b":1},"a":1}', "line 1, column 26"],
    ['{"a":1,"\\u0061":2}', "line 1, column 8"],
  ];
  for (const [text, place] of TWICE)
    it(`is refused if it names a member twice, as ${JSON.stringify(text)} does`, () => {
      expect(refusal(text)).to.deep.equal([
        "malformed_json",
        `The body names a member twice, at ${place}. Send each member once.`,
      ]);
    });

  it("may name a member twice in two objects", () => {
    const text = '{"a":{"a":1},"b":[{"a":null},{"a":{"a":[]}}]}';
    expect(parse(text).value).to.deep.equal(JSON.parse(text));
  });

  it("has a fault for each text and name that is not Unicode, at its place", () => {
    const detail = "must be Unicode text, without lone surrogates";
    const at = (text: string) => parse(text).faults;
    expect(at('"\\ud800"')).to.deep.equal([{ pointer: "", detail }]);
    expect(at('{"a/b":["x","\\uDFFF",{"c~":"\\uD800"}],"\\udc00d":"x"}')).to.deep.equal([
      { pointer: "/a~1b/1", detail },
      { pointer: "/a~1b/2/c~0", detail },
      { pointer: "/\ufffdd", detail },
    ]);
    expect(at('["\\ud83d\\ude00","\\ud799","\\u00d8"]'), "pairs and other escapes").to.deep.equal([]);
    const name = "n".repeat(101);
    expect(at(`{"${name}":["\\ud800"]}`)).to.deep.equal([{ pointer: `/${"n".repeat(100)}/0`, detail }]);
  });

  it("has at most 101 such faults, one more than a response lists", () => {
    for (const count of [100, 101, 102])
      expect(parse(JSON.stringify(Array(count).fill("\ud800"))).faults).to.have.length(Math.min(count, 101));
  });
});
