import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync } from "node:zlib";
import { expect } from "chai";
import { codingOf, codingsFor, compress, isWorthwhile } from "../../src/http/codings.ts";

const [SMALL, LARGE] = ["x".repeat(1023), "x".repeat(1024)];

describe("the coding of a body", () => {
  const CODINGS: [accept: string | undefined, large: string, small: string][] = [
    [undefined, "identity", "identity"],
    ["", "identity", "identity"],
    ["gzip", "gzip", "identity"],
    ["gzip, br", "br", "identity"],
    ["gzip;q=1, br;q=0.5", "gzip", "identity"],
    ["*", "br", "identity"],
    ["zstd", "identity", "identity"],
    ["identity;q=0, gzip", "gzip", "gzip"],
    ["gzip;q=0, br", "br", "identity"],
    ["*;q=0", "identity", "identity"],
    ["br, identity;q= 0", "br", "identity"], // RFC 9110 has no space after q=
    [`gzip${" ".repeat(996)}`, "gzip", "identity"],
    [`gzip${" ".repeat(997)}`, "identity", "identity"],
  ];
  for (const [accept, large, small] of CODINGS)
    it(`is ${large}, or ${small} if it is small, for Accept-Encoding: ${accept?.trim() ?? "(absent)"}`, () => {
      expect(isWorthwhile(LARGE)).to.equal(true);
      expect(isWorthwhile(SMALL)).to.equal(false);
      expect(codingOf(LARGE, accept)).to.equal(large);
      expect(codingOf(SMALL, accept)).to.equal(small);
    });

  it("may be any that the header takes, the preferred first", () => {
    expect(codingsFor("gzip, br")).to.deep.equal(["br", "gzip", "identity"]);
    expect(codingsFor("br;q=0.5, gzip, identity;q=0")).to.deep.equal(["gzip", "br"]);
    expect(codingsFor(undefined)).to.deep.equal(["identity"]);
  });

  it("gives back the body, at once or in turn, unless nobody waits for it", async () => {
    for (const size of [1024, 32 * 1024, 32 * 1024 + 1]) {
      const body = "x".repeat(size);
      expect(gunzipSync(await compress(body, "gzip")).toString()).to.equal(body);
      expect(brotliDecompressSync(await compress(body, "br")).toString()).to.equal(body);
      const unwanted = await compress(body, "br", () => true);
      expect(unwanted === body, `${size} bytes`).to.equal(size > 32 * 1024);
    }
  });

  it("is Brotli of level 1, which is fast", async () => {
    const body = JSON.stringify(Array.from({ length: 500 }, (_, n) => ({ name: `Certificate ${n}`, of: n * n })));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
    const compressed = await compress(body, "br");
    expect(brotliCompressSync(body, { params }).equals(compressed as Buffer)).to.equal(true);
  });
});
