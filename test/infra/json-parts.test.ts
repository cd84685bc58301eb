import { mock } from "node:test";
import { inspect } from "node:util";
import { expect } from "chai";
import { jsonBytes, jsonParts } from "../../src/infra/json-parts.ts";

/** Characters of a part, at least, except for the last. */
const PART = 64 * 1024;

const VALUES: unknown[] = [
  null,
  true,
  12.5,
  'a "b" \n é',
  [],
  {},
  [[]],
  [{}],
  [null, [null]],
  { a: undefined },
  { a: undefined, b: 1, c: undefined, d: [2, "3"], e: null, f: { g: undefined, h: [[]] } },
  { items: [{ id: "1", documents: [{ id: "2", tags: ["x", {}] }], name: null }, {}], next: null },
  [[[[[[{ deep: [[[1]]] }], 2], 3], 4], 5], 6],
  { one: { two: { three: { four: { five: [1, { six: 6 }] } } } } },
];

const textOf = async (value: unknown, gap?: string) => (await jsonBytes(value, gap)).toString();

describe("JSON in parts", () => {
  for (const value of VALUES)
    it(`is what JSON.stringify writes of ${inspect(value, { depth: 9, breakLength: Infinity })}`, async () => {
      expect(await textOf(value)).to.equal(JSON.stringify(value));
      expect(JSON.parse(await textOf(value, " "))).to.deep.equal(JSON.parse(JSON.stringify(value)));
    });

  it("has the gap before each item of a list, down to four levels", async () => {
    expect(await textOf([1, [2, 3], []], "\n")).to.equal("[\n1,\n[\n2,\n3],\n[]]");
    expect(await textOf([[[[[1]]]]], " ")).to.equal("[ [ [ [ [1]]]]]");
    expect(await textOf({ a: { b: [1] } }, " ")).to.equal('{"a":{"b":[ 1]}}');
    expect(await textOf({ rows: [{ a: [1], b: { c: [2] } }] }, " ")).to.equal('{"rows":[ {"a":[ 1],"b":{"c":[2]}}]}');
  });

  it("comes in parts of 64 Ki characters or a little more", async () => {
    const value = Array.from({ length: 40 }, (_, n) => `${n} ${"x".repeat(10_000)}`);
    const parts: string[] = [];
    for await (const part of jsonParts(value)) parts.push(part);
    expect(parts.join("")).to.equal(JSON.stringify(value));
    expect(parts).to.have.length(6);
    for (const part of parts.slice(0, -1)) expect(part.length).to.be.within(PART, PART + 11_000);
  });

  for (const [what, stepMs, others] of [
    ["lets others go between if it takes long", 20, true],
    ["is made in one go if it is quick", 0, false],
  ] as const)
    it(what, async () => {
      let now = 0;
      let turns = 0;
      let next: NodeJS.Immediate;
      const count = (): void => {
        turns++;
        next = setImmediate(count);
      };
      mock.method(performance, "now", () => (now += stepMs));
      next = setImmediate(count);
      try {
        await jsonBytes([1, 2, 3, 4, 5]);
        expect(turns > 4).to.equal(others);
        if (!others) expect(turns).to.equal(0);
      } finally {
        clearImmediate(next);
        mock.restoreAll();
      }
    });
});
