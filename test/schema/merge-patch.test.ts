import { expect } from "chai";
import { mergePatch } from "../../src/schema/merge-patch.ts";

describe("A merge patch", () => {
  /** The examples of RFC 7396, appendix A: target, patch, result. */
  const EXAMPLES: [unknown, unknown, unknown][] = [
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [
      ["a", "b"],
      ["c", "d"],
      ["c", "d"],
    ],
    [{ a: "b" }, ["c"], ["c"]],
    [{ a: "foo" }, null, null],
    [{ a: "foo" }, "bar", "bar"],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: "b", c: null }, { a: "b" }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    [null, { a: 1 }, { a: 1 }],
    ["text", { a: 1 }, { a: 1 }],
    [{ a: { b: 1 } }, { a: { c: 2 } }, { a: { b: 1, c: 2 } }],
    [{ a: [1] }, { a: { c: 2 } }, { a: { c: 2 } }],
  ];
  for (const [target, patch, result] of EXAMPLES)
    it(`makes ${JSON.stringify(result)} of ${JSON.stringify(target)} with ${JSON.stringify(patch)}`, () => {
      const copies = structuredClone([target, patch]);
      expect(mergePatch(target, patch)).to.deep.equal(result);
      expect([target, patch]).to.deep.equal(copies);
    });

  it("keeps a member named __proto__ an ordinary one", () => {
    const merged = mergePatch({}, JSON.parse('{"__proto__":{"a":1}}')) as object;
    expect(JSON.stringify(merged)).to.equal('{"__proto__":{"a":1}}');
    expect(Object.getPrototypeOf(merged)).to.equal(Object.prototype);
  });
});
