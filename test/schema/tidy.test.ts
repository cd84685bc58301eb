import { expect } from "chai";
import Type from "typebox";
import { MAX_FAULTS } from "../../src/problems.ts";
import { tidier } from "../../src/schema/tidy.ts";

const text = { type: "string" };
const orNull = { type: ["string", "null"] };

/** @returns a function that tidies a value of this JSON Schema. */
function tidying(schema: object): (value: unknown) => unknown {
  return tidier(Type.Unsafe(schema));
}

describe("The tidier of a schema", () => {
  it("shortens a date-time at midnight to its date, and no other text", () => {
    const tidy = tidying({ type: "string", format: "date" });
    const midnight = ["T00:00", "t00:00", " 00:00", "T00:00:00", "T00:00:00.0", "T00:00:00.000", "T00:00:00.000+00:00"];
    const zones = ["T00:00Z", "T00:00:00Z", " 00:00:00z", "T00:00:00+00:00", "T00:00:00-00:00", ""];
    for (const rest of [...midnight, ...zones]) expect(tidy(` 2026-03-01${rest} `), rest).to.equal("2026-03-01");
    const others = [
      "T00:01",
      "T01:00",
      "T00:00:01",
      "T00:00:00.001",
      "T00:00:00.",
      "T00:00:00+01:00",
      "T00:00:00+00:30",
    ];
    const malformed = ["T00", "T00:00:00ZZ", "T00:00:00Z[UTC]", "T00:00:0", "T00:00:00+0000", "_00:00", "TT00:00"];
    for (const rest of [...others, ...malformed]) expect(tidy(`2026-03-01${rest}`)).to.equal(`2026-03-01${rest}`);
    for (const other of ["12026-03-01T00:00", "2026-3-01T00:00", "2026-03-1T00:00", "20260301T00:00", "x"])
      expect(tidy(other)).to.equal(other);
    expect(tidying({ type: "string", format: "date-time" })(" 2026-03-01T00:00:00Z ")).to.equal("2026-03-01T00:00:00Z");
  });

  it("trims free text, and leaves words of a list, base64 and values of other types as they are", () => {
    expect(tidying(text)(" a b\n")).to.equal("a b");
    expect(tidying(orNull)(" a ")).to.equal("a");
    expect(tidying({ ...text, format: "phone" })(" +1 415 555 0123 ")).to.equal("+14155550123");
    for (const schema of [{ ...text, enum: ["a"] }, { ...text, contentEncoding: "base64" }, { type: "integer" }, {}])
      expect(tidying(schema)(" a ")).to.equal(" a ");
    for (const value of [5, true, null, undefined, ["a "], { a: "a " }]) expect(tidying(text)(value)).to.equal(value);
  });

  it("takes an empty text in a member that may be null for null, whatever the member's type", () => {
    const properties = { a: orNull, b: { type: ["integer", "null"] }, c: text, d: { type: "integer" }, e: orNull };
    const tidy = tidying({ type: "object", properties });
    expect(tidy({ a: "", b: " \t", c: " ", d: "", e: "x " })).to.deep.equal({ a: null, b: null, c: "", d: "", e: "x" });
    expect(tidy({ a: null, b: 0 })).to.deep.equal({ a: null, b: 0 });
    expect(tidy({})).to.deep.equal({});
    expect(tidying(orNull)(" ")).to.equal(""); // no member
  });

  it("leaves what is not an object, a map or a list as it is", () => {
    const schemas = [
      { type: "object", properties: { length: orNull, 0: orNull } },
      { type: "object", additionalProperties: text },
      { type: "array", items: text },
    ];
    for (const schema of schemas)
      for (const value of ["a ", "", null, 5, undefined]) expect(tidying(schema)(value)).to.equal(value);
    for (const schema of schemas.slice(0, 2)) expect(tidying(schema)([" a "])).to.deep.equal([" a "]);
    expect(tidying(schemas[2]!)({ 0: " a " })).to.deep.equal({ 0: " a " });
  });

  it("keeps one unknown member more than a response lists, and every known one", () => {
    const unknown = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`x${n}`, n]));
    const schema = { type: "object", properties: { last: text }, additionalProperties: false };
    for (const [count, kept] of [
      [MAX_FAULTS, MAX_FAULTS],
      [MAX_FAULTS + 1, MAX_FAULTS + 1],
      [MAX_FAULTS + 2, MAX_FAULTS + 1],
      [5 * MAX_FAULTS, MAX_FAULTS + 1],
    ] as const)
      expect(tidying(schema)({ ...unknown(count), last: " a " })).to.deep.equal({ ...unknown(kept), last: "a" });
    const open = { type: "object", properties: { last: text } };
    expect(tidying(open)({ ...unknown(5 * MAX_FAULTS), last: " a " })).to.deep.equal({
      ...unknown(5 * MAX_FAULTS),
      last: "a",
    });
  });

  it("leaves null out of a map, unless null means something there, and keeps one member more than the map may have", () => {
    const map = { type: "object", additionalProperties: text };
    expect(tidying(map)({ a: null, b: " b " })).to.deep.equal({ b: "b" });
    expect(tidying({ ...map, additionalProperties: orNull })({ a: null, b: " b " })).to.deep.equal({ a: null, b: "b" });
    const tidy = tidying({ ...map, maxProperties: 2 });
    expect(tidy({ a: "1", b: "2" })).to.deep.equal({ a: "1", b: "2" });
    expect(tidy({ a: "1", x: null, b: "2", c: " 3", d: "4" })).to.deep.equal({ a: "1", b: "2", c: "3" });
  });

  it("tidies a list that is not too long, and of another keeps one item more than it may have", () => {
    const list = { type: "array", items: text };
    expect(tidying(list)([" a", 5, "b "])).to.deep.equal(["a", 5, "b"]);
    expect(tidying({ ...list, maxItems: 2 })(["a ", "b "])).to.deep.equal(["a", "b"]);
    expect(tidying({ ...list, maxItems: 2 })(["a ", "b ", "c ", "d "])).to.deep.equal(["a ", "b ", "c "]);
    const words = { type: "array", items: { ...text, enum: ["a", "b"] } };
    expect(tidying({ ...words, uniqueItems: true })(["a", "b", "c", "d"])).to.deep.equal(["a", "b", "c"]);
    expect(tidying({ ...words, uniqueItems: true, maxItems: 1 })(["a", "b", "c", "d"])).to.deep.equal(["a", "b"]);
    expect(tidying(words)(["a", "b", "c", "d"])).to.deep.equal(["a", "b", "c", "d"]);
    expect(tidying({ ...list, uniqueItems: true })(["a", "b", "c"])).to.deep.equal(["a", "b", "c"]);
    expect(tidying({ type: "array", items: { type: "integer" } })([1, " 2"])).to.deep.equal([1, " 2"]);
  });

  it("keeps as much of a text that is too long as makes it too long, in code points", () => {
    for (const schema of [text, orNull, { ...text, "x-scalar": true }]) {
      const tidy = tidying({ ...schema, maxLength: 3 });
      expect(tidy(" 🙂🙂🙂 ")).to.equal("🙂🙂🙂");
      expect(tidy("🙂🙂🙂b🙂")).to.equal("🙂🙂🙂b");
      expect(tidy("a".repeat(1_000))).to.equal("a".repeat(7));
      expect(tidying(schema)("a".repeat(1_000))).to.equal("a".repeat(1_000));
    }
    expect(tidying({ ...text, "x-scalar": true, maxLength: 3 })(123456789)).to.equal("1234567");
    expect(tidying({ type: ["string", "integer"], maxLength: 3 })(123456789)).to.equal(123456789);
  });

  it("tidies by the value's type where a text stands for something else", () => {
    const other = { type: "object", properties: { name: text } };
    const either = (yes: object, no: object) =>
      Object.fromEntries(Object.entries({ if: text, else: no }).concat([["then", yes]]));
    const tidy = tidying(either(text, other));
    expect(tidy(" a ")).to.equal("a");
    expect(tidy({ name: " a " })).to.deep.equal({ name: "a" });
    expect(tidying(either({}, other))(" a ")).to.equal(" a ");
    expect(tidying(either(text, {}))({ name: " a " })).to.deep.equal({ name: " a " });
    for (const one of ["then", "else"])
      expect(tidying({ [one]: text, ...other })({ name: " a " })).to.deep.equal({ name: "a" });
  });

  it("writes exact numbers of an identifier as text, and nothing else", () => {
    const tidy = tidying({ type: "string", "x-identifier": true });
    expect([7, -1.5, true, null, 2 ** 53].map(tidy)).to.deep.equal(["7", "-1.5", true, null, 2 ** 53]);
  });

  it("writes exact numbers and booleans of metadata as text", () => {
    const tidy = tidying({ type: "string", "x-scalar": true });
    const { MAX_SAFE_INTEGER } = Number;
    const written = [" a ", true, false, 0, 1.5, -0.25, MAX_SAFE_INTEGER, -MAX_SAFE_INTEGER].map(tidy);
    const ends = [`${MAX_SAFE_INTEGER}`, `-${MAX_SAFE_INTEGER}`];
    expect(written).to.deep.equal(["a", "true", "false", "0", "1.5", "-0.25", ...ends]);
    for (const value of [MAX_SAFE_INTEGER + 1, -MAX_SAFE_INTEGER - 1, Infinity, null, [], {}])
      expect(tidy(value)).to.equal(value);
  });
});
