import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect } from "chai";
import { codingOf, compress } from "../../src/http/response.ts";
import { codingsFor } from "../../src/http/negotiate.ts";

const [SMALL, LARGE] = ["x".repeat(1023), "x".repeat(1024)];

describe("the coding of a body", () => {
  it("is asked for by a header of up to 1000 characters, also with a space that RFC 9110 does not have", () => {
    expect(codingOf(LARGE, `gzip${" ".repeat(996)}`)).to.equal("gzip");
    expect(codingOf(LARGE, `gzip${" ".repeat(997)}`)).to.equal("identity");
    expect(codingOf(LARGE, "br, identity;q= 0")).to.equal("br");
  });

  it("is none for less than 1024 bytes, unless the header refuses that", () => {
    expect([SMALL, LARGE].map((body) => codingOf(body, "gzip"))).to.deep.equal(["identity", "gzip"]);
    for (const accept of ["gzip, br", "*", "br, identity;q= 0", "gzip;q=0, br", "*;q=0", undefined])
      expect(codingOf(SMALL, accept), accept).to.equal("identity");
    expect(codingOf(SMALL, "identity;q=0, gzip")).to.equal("gzip");
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
});
