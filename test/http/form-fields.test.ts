import { expect } from "chai";
import { type Static, Type } from "typebox";
import { MAX_JSON_BYTES } from "../../src/http/body.ts";
import { formFields } from "../../src/http/form-fields.ts";
import { MAX_VALUES } from "../../src/http/json.ts";
import { refused } from "./support.ts";

describe("the fields of a form", () => {
  const schema = Type.Object({
    name: Type.Union([Type.String()], { type: ["string", "null"] }),
    flag: Type.Boolean(),
    tags: Type.Array(Type.String()),
  });
  type Fields = Static<typeof schema>;
  /** Adds the fields, and finishes. */
  const collect = (given: [name: string | undefined, text: string][], fields = formFields(schema)) => {
    for (const [name, text] of given) fields.add(name, text);
    return fields.finish() as Partial<Fields>;
  };

  it("are text, or JSON if the schema allows no text", () => {
    expect(
      collect([
        ["name", "7"],
        ["flag", "true"],
        ["tags", '["a"]'],
        ["other", "7"],
      ]),
    ).to.deep.equal({ name: "7", flag: true, tags: ["a"], other: "7" });
    expect(collect([["flag", "{"]]), "what is no JSON stays as it is").to.deep.equal({ flag: "{" });
    expect(collect([["flag", "true"]], formFields(undefined))).to.deep.equal({ flag: "true" });
  });

  it("are refused for each that is repeated, has no name, or is not Unicode, all at once", async () => {
    expect(
      await refused(() =>
        collect([
          ["a/b", "x"],
          ["a/b", "\ufffd"],
          [undefined, "x"],
          ["c", "\ufffd"],
          ["\ufffd", "x"],
          ["tags", '["\\ud800"]'],
        ]),
      ),
    ).to.deep.equal([
      "validation_failed",
      "The form is not valid. /a~1b is given more than once.",
      { pointer: "/a~1b", detail: "is given more than once" },
      { pointer: "", detail: "must have a name for every part" },
      { pointer: "/c", detail: "must be UTF-8 text without replacement characters" },
      { pointer: "/\ufffd", detail: "must be UTF-8 text without replacement characters" },
      { pointer: "/tags/0", detail: "must be Unicode text, without lone surrogates" },
    ]);
    expect((await refused(() => collect([[undefined, "x"]])))[1]).to.equal(
      "The form is not valid. It must have a name for every part.",
    );
  });

  it("may have as many bytes in all as a JSON body, names included", async () => {
    const half = "é".repeat(MAX_JSON_BYTES / 4);
    const rest = "x".repeat(MAX_JSON_BYTES / 2 - 3);
    const tooLarge = [
      "payload_too_large",
      "The form's fields are too large. Send at most 1048576 bytes in all fields together.",
    ];
    expect(
      Object.keys(
        collect([
          ["a", half],
          ["bc", rest],
        ]),
      ),
    ).to.deep.equal(["a", "bc"]);
    expect(
      await refused(() =>
        collect([
          ["a", half],
          ["bc", `${rest}x`],
        ]),
      ),
    ).to.deep.equal(tooLarge);
    expect(
      await refused(() =>
        collect([
          ["a", half],
          ["bcd", rest],
        ]),
      ),
    ).to.deep.equal(tooLarge);
  });

  it("may have as many values in all as a JSON body", async () => {
    const list = (count: number) => JSON.stringify(Array(count).fill(0));
    expect(
      collect([
        ["tags", list(MAX_VALUES - 1)],
        ["flag", list(1)],
      ]).flag,
    ).to.deep.equal([0]);
    expect(
      (
        await refused(() =>
          collect([
            ["tags", list(MAX_VALUES - 1)],
            ["flag", list(2)],
          ]),
        )
      )[0],
    ).to.equal("payload_too_large");
  });
});
