import { expect } from "chai";
import { publish } from "../../src/api/publish.ts";

describe("a published schema", () => {
  it("of a response has nothing that a later version may change, and none has what is for validation only", () => {
    const limits = {
      maximum: 9,
      maxItems: 1,
      maxLength: 1,
      maxProperties: 1,
      minItems: 1,
      minLength: 1,
      pattern: "a",
      uniqueItems: true,
    };
    const schema = {
      type: "string",
      minimum: 1,
      ...limits,
      propertyNames: {},
      "x-elsewhere": {},
      default: { title: "x" },
    };
    const kept = { type: "string", minimum: 1, default: { title: "x" } };
    expect(publish(schema, "response", {})).to.deep.equal(kept);
    expect(publish(schema, "request", {})).to.deep.equal({ ...kept, ...limits });
    for (const use of ["response", "request"] as const) {
      for (const format of ["date", "date-time", "idn-email", "binary"])
        expect(publish({ format }, use, {})).to.deep.equal({ format });
      expect(publish({ format: "phone" }, use, {})).to.deep.equal({});
      expect(publish({ additionalProperties: false }, use, {})).to.deep.equal({});
      expect(publish({ additionalProperties: true }, use, {})).to.deep.equal({ additionalProperties: true });
    }
  });

  it("moves to the components if it has a title, with null beside it", () => {
    const components = {};
    const inner = {
      title: "Inner",
      "x-about": "What it is for.",
      type: ["object", "null"],
      properties: { title: { type: "string" } },
    };
    const published = publish({ type: "array", items: inner, examples: [[{ title: "x" }]] }, "response", components);
    expect(published).to.deep.equal({
      type: "array",
      items: { description: "What it is for.", anyOf: [{ $ref: "#/components/schemas/Inner" }, { type: "null" }] },
      examples: [[{ title: "x" }]],
    });
    const nullFirst = { ...inner, type: ["null", "object"] };
    expect(publish({ type: "array", items: nullFirst }, "response", components)["items"]).to.deep.equal(
      published["items"],
    );
    expect(components).to.deep.equal({ Inner: { type: "object", properties: { title: { type: "string" } } } });
    expect(
      publish({ title: "Plain", "x-about": "Short.", "x-scalar": false, type: "string" }, "response", components),
    ).to.deep.equal({
      $ref: "#/components/schemas/Plain",
      description: "Short.",
    });
    expect(() => publish({ title: "Plain", type: "number" }, "response", components)).to.throw(
      "Two different schemas have the title Plain.",
    );
  });

  it("says that a text may be null which is tidied first, and lists both forms of a condition", () => {
    expect(publish({ type: "string", "x-scalar": true }, "request", {})).to.deep.equal({ type: ["string", "null"] });
    const [text, other] = [{ type: "string", "x-note": 1 }, { type: "integer" }];
    // oxlint-disable-next-line unicorn/no-thenable -- `then` is a keyword of JSON Schema
    const condition = { if: {}, then: text, else: other, description: "d" };
    expect(publish(condition, "request", {})).to.deep.equal({ description: "d", oneOf: [{ type: "string" }, other] });
  });
});
