import { expect } from "chai";
import { codedTag, entityTag, ifMatch, keptTag, tagOfHash, viewTag } from "../../src/http/entity-tags.ts";
import { Problem } from "../../src/problems.ts";

const VIEW = { id: 1, name: "Ada", age: 7 };
const TAG = entityTag(JSON.stringify(VIEW));

describe("an entity tag", () => {
  it("is 27 characters of the hash, in quotes, and a coding has its own", () => {
    expect(entityTag("{}")).to.equal('"RBNvo1WzZ4oRRq0W9-hknpT7T8I"');
    expect(tagOfHash("x".repeat(28))).to.equal(`"${"x".repeat(27)}"`);
    expect(codedTag('"x"', "identity")).to.equal('"x"');
    expect(codedTag('"x"', "br")).to.equal('"x-br"');
    expect(codedTag('"x"', "gzip")).to.equal('"x-gzip"');
  });

  it("of a view has a part of its own for what changes by the clock", () => {
    for (const plain of [viewTag(VIEW), viewTag(VIEW, [])]) expect(plain).to.equal(TAG);
    for (const value of [null, "x", 7]) expect(viewTag(value, ["age"])).to.equal(entityTag(JSON.stringify(value)));
    const [lasting, changing] = [{ id: 1, name: "Ada" }, { age: 7 }].map((part) => entityTag(JSON.stringify(part)));
    expect(viewTag(VIEW, ["age"])).to.equal(`${lasting?.slice(0, -1)}.${changing?.slice(1)}`);
  });
});

describe("If-Match", () => {
  /** Returns what a header is refused with, or undefined. */
  const refused = (header: string | undefined, others?: string[]): unknown => {
    try {
      ifMatch(header)(() => [VIEW, { other: 1 }], others);
      return undefined;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { code: error.code, detail: error.detail, ...error.extras };
    }
  };
  const coded = (suffix: string) => `${TAG.slice(0, -1)}${suffix}"`;

  it("is met by a tag of any of the views, in any coding and at any time, or by an asterisk", () => {
    const volatile = viewTag({ ...VIEW, left: 5 }, ["left"]);
    expect(volatile).not.to.equal(TAG);
    for (const header of [
      undefined,
      "*",
      " * ",
      TAG,
      `"x", ${TAG}`,
      `${TAG},"x"`,
      coded("-br"),
      coded("-gzip"),
      volatile,
    ])
      expect(refused(header), header).to.equal(undefined);
    expect(refused(entityTag('{"other":1}'))).to.equal(undefined);
    expect(refused('"content"', ["x", '"content"'])).to.equal(undefined);
    expect(refused('"content-br"', ['"content-br"']), "a tag that ends as a coding does").to.equal(undefined);
  });

  it("is refused with the current tag if it names another or none", () => {
    const extras = { members: { current_etag: TAG } };
    const detail =
      "The resource has changed since you read it. Read it again, then decide whether to send your change again.";
    for (const header of ['"x"', '""', `"x", "y"`, coded("-zstd"), coded("-brx"), `"x${TAG.slice(1)}`])
      expect(refused(header), header).to.deep.equal({ code: "version_mismatch", detail, ...extras });
    for (const header of ["", "x", '"', TAG.slice(1), TAG.replaceAll('"', "")])
      expect(refused(header), header).to.deep.equal({
        code: "version_mismatch",
        detail: `If-Match has no entity tag in double quotes. Send the ETag as you received it: ${TAG}.`,
        ...extras,
      });
  });

  it("is refused for a weak tag, which says that it is weak, and not that the resource has changed", () => {
    for (const header of [`W/${TAG}`, `"x", W/${TAG}`, `W/${coded("-gzip")}`, 'W/"x"'])
      expect(refused(header), header)
        .to.have.property("detail")
        .that.matches(/has a weak entity tag .*a proxy that compresses responses, such as nginx, made it weak/)
        .and.not.matches(/changed/);
    expect(refused(`W/"x", ${TAG}`)).to.equal(undefined);
  });
});

describe("the tag of a copy that a client keeps", () => {
  const KEPT: [ifNoneMatch: string | undefined, accept: string | undefined, kept: string | undefined][] = [
    [undefined, undefined, undefined],
    ["", undefined, undefined],
    ["*", undefined, '"x"'],
    [" * ", "br", '"x"'],
    ['"x"', undefined, '"x"'],
    ['W/"x"', undefined, '"x"'],
    ['"y", W/"x"', undefined, '"x"'],
    ['"y"', undefined, undefined],
    ["x", undefined, undefined],
    ['"x-br"', undefined, undefined],
    ['"x-br"', "gzip", undefined],
    ['"x-br"', "br", '"x-br"'],
    ['W/"x-br"', "gzip, br", '"x-br"'],
    ['"x-gzip", "x-br"', "gzip, br", '"x-br"'],
    ['"x"', "gzip, br", '"x"'],
    ['"x"', "br, identity;q=0", undefined],
    ['"x-zstd"', "zstd, br", undefined],
    ['"yW/x"', undefined, undefined],
    ['"W/x"', undefined, undefined],
  ];
  for (const [list, accept, kept] of KEPT)
    it(`is ${kept ?? "none"} for If-None-Match: ${list ?? "(absent)"} and Accept-Encoding: ${accept ?? "(absent)"}`, () => {
      expect(keptTag({ "if-none-match": list, "accept-encoding": accept }, '"x"')).to.equal(kept);
    });
});
