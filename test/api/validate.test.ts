import { expect } from "chai";
import { compile } from "../../src/api/validate.ts";

const faultsOf = (schema: object, value: unknown) => compile(schema, "json")(value);
/** Returns the details of the faults of a value. */
const details = (schema: object, value: unknown) => faultsOf(schema, value).map(({ detail }) => detail);
const text = { type: "string" };
const closed = (properties: object, more: object = {}) => ({
  type: "object",
  properties,
  additionalProperties: false,
  ...more,
});

describe("the fault of a value", () => {
  const CASES: [schema: object, value: unknown, detail: string | undefined][] = [
    [{ type: "integer", minimum: 3 }, 2, "must be at least 3"],
    [{ type: "integer", minimum: 3 }, 3, undefined],
    [{ type: "integer", maximum: 3 }, 4, "must be at most 3"],
    [{ type: "integer", maximum: 3 }, 3, undefined],
    [{ type: "integer" }, 1.5, "must be an integer, not a fraction"],
    [{ type: "integer" }, "1", "must be an integer, not a string"],
    [{ type: ["integer", "null"] }, 1.5, "must be an integer or null, not a fraction"],
    [{ type: "boolean" }, 1.5, "must be a boolean, not a number"],
    [{ type: "string" }, null, "must be a string, not null"],
    [{ type: "string" }, [], "must be a string, not an array"],
    [{ type: "string" }, {}, "must be a string, not an object"],
    [{ type: ["string", "null"] }, true, "must be a string or null, not a boolean"],
    [{ type: "object" }, "x", "must be an object, not a string"],
    [{ type: "array", items: text }, "x", "must be an array, not a string"],
    [
      { type: "string", "x-scalar": true },
      1e300,
      "is a number with too many digits to be kept exactly; send it as a string",
    ],
    [{ type: "string", "x-scalar": true }, {}, "must be a string, not an object"],
    [{ type: "string", "x-scalar": false }, 1e300, "must be a string, not a number"],
    [{ type: "string", minLength: 1 }, "", "must have at least 1 character"],
    [{ type: "string", minLength: 2 }, "x", "must have at least 2 characters"],
    [{ type: "string", maxLength: 1 }, "xx", "must have at most 1 characters"],
    [{ type: "array", items: text, minItems: 1 }, [], "must have at least 1 item"],
    [{ type: "array", items: text, minItems: 2 }, ["x"], "must have at least 2 items"],
    [{ type: "array", items: text, maxItems: 2 }, ["x", "y", "z"], "must have at most 2 items"],
    [{ type: "array", items: text, uniqueItems: true }, ["x", "x"], "must not have the same item twice"],
    [{ type: "object", maxProperties: 1 }, { a: 1, b: 2 }, "must have at most 1 members"],
    [{ enum: ["one", null, "two"] }, "three", "must be one of one, two"],
    [{ type: "string", pattern: "^a$", "x-must-be": "the letter a" }, "b", "must be the letter a"],
    [{ const: 1 }, 2, "must be equal to constant"],
    [{ type: "string", format: "phone" }, "12", "must start with + and the country code, for example +14155550123"],
    [{ type: "string", format: "phone" }, "+14155550123", undefined],
    [{ type: "string", format: "idn-email" }, "a@example.com", undefined],
    [
      { type: "string", format: "idn-email" },
      "a",
      "must be one email address without a display name or invisible characters, for example name@example.com",
    ],
    [{ type: "string", format: "date" }, "2026-02-28", undefined],
    [{ type: "string", format: "date" }, "2026-02-30", "must be a date, for example 2026-08-17"],
    [{ type: "string", format: "language-tag" }, "pt-BR", undefined],
    [{ type: "string", format: "language-tag" }, "?", "must be a language tag (BCP 47), for example en or pt-BR"],
    [{ type: "string", format: "time-zone" }, "Europe/Berlin", undefined],
    [{ type: "string", format: "time-zone" }, "?", "must be an IANA time zone, for example Europe/Berlin"],
    [{ type: "string", format: "uuid" }, "x", "must be uuid"],
  ];
  const TIMESTAMPS: [boolean, string[]][] = [
    [
      true,
      ["2026-08-17T09:30:00Z", "2026-08-17t09:30:00.5z", "2026-08-17T09:30:00-01:30", "2026-08-17T09:30:00+14:00"],
    ],
    [
      false,
      [
        "2026-08-17T09:30:00",
        "2026-08-17T09:30:00+01:3",
        "2026-08-17T09:30:00+1:30",
        "2026-08-17T09:30:00Z ",
        "2026-08-17T09:30:00+01:30x",
        "2026-02-30T09:30:00Z",
        "nonsense Z",
        "",
      ],
    ],
  ];
  const NO_COLON: [boolean, string[]][] = [[false, ["2026-08-17T09:30:00+01", "2026-08-17T09:30:00.5-0130"]]];
  const NO_PLUS: [boolean, string[]][] = [[false, ["2026-08-17T09:30:00 01:30", "2026-08-17t09:30:00 0000"]]];
  const TIMESTAMP = "must be a timestamp with an offset, for example 2026-08-17T09:30:00.000Z";
  const BASE64: [boolean, string[]][] = [
    [true, ["YQ==", "YWI=", "YWJj", "+/09", "YWJjYQ=="]],
    [false, ["YQ", "YQ=", "Y===", "YQ==YQ==", "Y-_j", "YWJjY", "YWJj\n", " YWJj", "YW=j"]],
  ];
  const FORMATS = [
    ["date-time", TIMESTAMPS, TIMESTAMP],
    ["date-time", NO_COLON, `${TIMESTAMP}; write the offset with a colon, for example +00:00`],
    ["date-time", NO_PLUS, `${TIMESTAMP}; in a query, write the + of an offset as %2B`],
    ["base64", BASE64, "must be at least one byte as base64 with padding (RFC 4648, section 4)"],
  ] as const;
  for (const [format, cases, detail] of FORMATS)
    for (const [isOne, values] of cases)
      for (const value of values) CASES.push([{ type: "string", format }, value, isOne ? undefined : detail]);
  for (const [schema, value, detail] of CASES) {
    it(`is ${detail === undefined ? "none" : `"${detail}"`} for ${JSON.stringify(value)}`, () => {
      expect(faultsOf(schema, value)).to.deep.equal(detail === undefined ? [] : [{ pointer: "", detail }]);
    });
  }

  it("stands at the member that is unknown, missing or wrong, in a JSON Pointer", () => {
    const schema = closed(
      { "a/b~c": { ...closed({ d: { type: "boolean" }, "e/f": text }), required: ["e/f"] } },
      { required: [] },
    );
    expect(faultsOf(schema, { "a/b~c": { d: 1, "g~h": 2 } })).to.deep.equal([
      { pointer: "/a~1b~0c/e~1f", detail: "is required" },
      { pointer: "/a~1b~0c/g~0h", detail: "is not a known field. Leave it out" },
      { pointer: "/a~1b~0c/d", detail: "must be a boolean, not a number" },
    ]);
    const names = { type: "object", propertyNames: { type: "string", minLength: 1, maxLength: 100 } };
    expect(faultsOf(names, { "": 1, ["x".repeat(101)]: 2, y: 3 })).to.deep.equal([
      { pointer: "/", detail: "must be a name of 1 to 100 characters, other than __proto__" },
      { pointer: `/${"x".repeat(101)}`, detail: "must be a name of 1 to 100 characters, other than __proto__" },
    ]);
  });

  it("is only what a condition asks for, without the condition", () => {
    // oxlint-disable-next-line unicorn/no-thenable -- `then` is a keyword of JSON Schema
    const schema = { if: text, then: { ...text, maxLength: 1 }, else: { type: "integer" } };
    expect(details(schema, "xx")).to.deep.equal(["must have at most 1 characters"]);
    expect(details(schema, true)).to.deep.equal(["must be an integer, not a boolean"]);
  });

  it("is given for up to 101 places, one more than a response lists", () => {
    const schema = { type: "array", items: text };
    for (const count of [100, 101, 102])
      expect(details(schema, Array(count).fill(1))).to.have.length(Math.min(count, 101));
  });
});

describe("the fault of an unknown field", () => {
  const known = closed(
    { first_name: text, email: text, cv: text, phone: text },
    { "x-elsewhere": { state: "PATCH the document." } },
  );
  const detail = (name: string, schema: object = known) => details(schema, { [name]: "x" });

  it("says where it is set instead, or that none is allowed", () => {
    expect(detail("state")).to.deep.equal(["cannot be set here: PATCH the document."]);
    expect(detail("toString")).to.deep.equal(["is not a known field. Leave it out"]);
    expect(detail("email", closed({}))).to.deep.equal(["is not known: no members are allowed here"]);
    expect(detail("email", { type: "object", additionalProperties: false })).to.deep.equal([
      "is not known: no members are allowed here",
    ]);
  });

  const NEAR: Record<string, string | undefined> = {
    emial: "email",
    emaill: "email",
    EMAIL: "email",
    emaaiil: "email",
    emaaaiil: undefined,
    firstName: "first_name",
    "first-name": "first_name",
    "First Name": "first_name",
    frstnam: "first_name",
    frsnam: undefined,
    cvs: "cv",
    cvss: undefined,
    fone: undefined,
    fhone: "phone",
    fhonne: "phone",
    cx: "cv",
    xx: undefined,
    ["-".repeat(95) + "email"]: "email",
    ["-".repeat(96) + "email"]: undefined,
  };
  for (const [name, meant] of Object.entries(NEAR))
    it(`says ${meant === undefined ? "no name that was meant by" : `that ${meant} was meant by`} ${name}`, () => {
      expect(detail(name)).to.deep.equal([
        `is not a known field. ${meant === undefined ? "Leave it out" : `Did you mean ${meant}?`}`,
      ]);
    });
});

describe("the values of a query", () => {
  const schema = closed({
    limit: { type: "integer", default: 50 },
    dry_run: { type: "boolean" },
  });

  it("are converted from text, and those that are missing get their defaults", () => {
    const query: Record<string, unknown> = { dry_run: "true" };
    expect(compile(schema, "query")(query)).to.deep.equal([]);
    expect(query).to.deep.equal({ dry_run: true, limit: 50 });
  });

  it("are not converted or added in JSON", () => {
    const body: Record<string, unknown> = { dry_run: "true" };
    expect(compile(schema, "json")(body)).to.deep.equal([
      { pointer: "/dry_run", detail: "must be a boolean, not a string" },
    ]);
    expect(body).to.deep.equal({ dry_run: "true" });
  });
});
