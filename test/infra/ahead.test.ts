import { expect } from "chai";
import { lazy, makeAhead } from "../../src/infra/ahead.ts";

describe("a lazy value", () => {
  it("is made once, when it is first asked for", () => {
    let made = 0;
    const value = lazy(() => ++made);
    expect(made).to.equal(0);
    expect([value(), value()]).to.deep.equal([1, 1]);
  });

  it("is made in the background, before anybody asks", async () => {
    let made = 0;
    const value = lazy(() => ++made);
    await makeAhead();
    expect(made).to.equal(1);
    expect(value()).to.equal(1);
  });
});
