import { expect } from "chai";
import { isEmailAddress } from "../../src/schema/email.ts";
import { isMediaType } from "../../src/schema/media-type.ts";

describe("A media type", () => {
  it("has a type, a subtype and any parameters, with or without quotes", () => {
    const plain = ["a/b", "application/pdf", "application/vnd.oasis+xml", "!#$%&'*+.^_`|~-/0", "A/Z9"];
    const parameters = ["a/b;c=d", "a/b; c=d;e=f", "a/b \t;\t c=d", 'a/b;c=""', 'a/b;c="d e\tf"', 'a/b;c="\\"\\\\ ~"'];
    for (const text of [...plain, ...parameters, 'a/b;c="!#[]{}"']) expect(isMediaType(text), text).to.equal(true);
  });

  it("is nothing else, and nothing that is unsafe in a header", () => {
    const parts = ["", "a", "a/", "/b", "a/b/c", "a /b", "a/ b", " a/b", "a/b ", "a/b;", "a/b;c", "a/b;c=", "a/b;=d"];
    const values = ['a/b;c="', 'a/b;c="d', 'a/b;c=d"', 'a/b;c="d"e', 'a/b;c="\\"', "a/b;c=d e", "a/b;c =d", "a/b;c= d"];
    const unsafe = [
      "a/b\n",
      "a/b;c=\u00e9",
      'a/b;c="\u00e9"',
      'a/b;c="\n"',
      'a/b;c="\\\n"',
      'a/b;c="\u007f"',
      "a/(b)",
      "a/b,c/d",
    ];
    for (const text of [...parts, ...values, ...unsafe])
      expect(isMediaType(text), JSON.stringify(text)).to.equal(false);
  });

  it("has at most 255 characters", () => {
    expect(isMediaType(`a/${"b".repeat(253)}`)).to.equal(true);
    expect(isMediaType(`a/${"b".repeat(254)}`)).to.equal(false);
  });
});

describe("An email address", () => {
  it("has a domain with a dot", () => {
    for (const text of ["a@example.com", "a.b+c@mail.example.com", "jörg@exämple.com", '"a b"@example.com'])
      expect(isEmailAddress(text), text).to.equal(true);
    for (const text of [
      "",
      "a",
      ".",
      "a@mail..example.com",
      "a@b",
      "@example.com",
      "a@",
      "a b@example.com",
      "Ann <a@example.com>",
      "a@example.com ",
    ])
      expect(isEmailAddress(text), text).to.equal(false);
  });

  it("may have dots in a row, at the start or at the end of its local part", () => {
    for (const local of ["taro..yamada", "taro.", "taro..", ".taro", "..", "太郎.", '"a..b"'])
      expect(isEmailAddress(`${local}@docomo.ne.jp`), local).to.equal(true);
  });
});
