import { mock } from "node:test";
import { expect } from "chai";
import { compareAndSet } from "../../src/infra/compare-and-set.ts";
import { Problem } from "../../src/problems.ts";

describe("a compare-and-set", () => {
  before(() => void mock.method(Math, "random", () => 0)); // no waits
  after(() => mock.restoreAll());

  it("is tried again until no other write comes in between", async () => {
    let attempts = 0;
    const attempt = () => Promise.resolve(++attempts === 50 ? "written" : undefined);
    expect(await compareAndSet("this candidate", attempt)).to.equal("written");
  });

  it("is given up after 50 lost races, and tells the client to come back in a second", async () => {
    let attempts = 0;
    const lost = compareAndSet("this candidate", () => Promise.resolve(void attempts++));
    const refusal = await lost.catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(Problem);
    expect(refusal).to.include({
      code: "store_unavailable",
      message: "Too many changes to this candidate at once. Retry in a second.",
    });
    expect((refusal as Problem).extras.headers).to.deep.equal({ "Retry-After": "1" });
    expect(attempts).to.equal(50);
  });

  it("is not tried again if it fails", async () => {
    let attempts = 0;
    const failing = compareAndSet("this candidate", () => {
      attempts++;
      return Promise.reject(new Error("no"));
    });
    expect(await failing.catch((error: unknown) => String(error))).to.equal("Error: no");
    expect(attempts).to.equal(1);
  });
});
