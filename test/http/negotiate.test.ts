import { expect } from "chai";
import { negotiate } from "../../src/http/negotiate.ts";

const LONG = { accept: `text/html,${",".repeat(1_000)}`, language: `de,${",".repeat(1_000)}` };

describe("Content negotiation", () => {
  it("takes the best of what is there, and the first of those that are liked equally", () => {
    expect(negotiate("accept", "text/*;q=0.5, application/json", ["text/html", "application/json"])).to.deep.equal([
      "application/json",
      "text/html",
    ]);
    expect(negotiate("accept-language", "fr-CH, de;q=0.9", ["en", "de", "fr"])[0]).to.equal("fr");
    expect(negotiate("accept-encoding", "gzip, br", ["br", "gzip", "identity"])[0]).to.equal("br");
    expect(negotiate("accept", "image/png", ["text/html"])).to.deep.equal([]);
  });

  it("takes everything without a header, but no compression", () => {
    expect(negotiate("accept", undefined, ["text/html", "application/json"])).to.have.length(2);
    expect(negotiate("accept-language", undefined, ["en", "de"])[0]).to.equal("en");
    expect(negotiate("accept-encoding", undefined, ["br", "identity"])).to.deep.equal(["identity"]);
  });

  it("ignores a header of more than 1,000 characters", () => {
    expect(negotiate("accept", LONG.accept, ["application/json", "text/html"])[0]).to.equal("application/json");
    expect(negotiate("accept-language", LONG.language, ["en", "de"])[0]).to.equal("en");
  });
});
