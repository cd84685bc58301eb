import { expect } from "chai";
import { errorOf } from "../../src/client/errors.ts";

describe("the client's error for an answer that redirects", () => {
  it("advises to check baseUrl, also in a browser, which hides the status and the address", async () => {
    const hidden = Object.defineProperty(Response.error(), "type", { value: "opaqueredirect" });
    expect(await errorOf(hidden))
      .to.have.property("message")
      .that.matches(/The server redirects to another address\. Check baseUrl\.$/);
  });
});
