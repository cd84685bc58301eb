import { expect } from "chai";
import { checkedGrace, checkedName } from "../../src/accounts/account.ts";
import { Problem } from "../../src/problems.ts";

/** Returns the problem that `work` throws: its code, its text and its errors. */
function refusalOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { code: error.code, message: error.message, extras: error.extras };
  }
}
const refused = (pointer: string, detail: string) => ({
  code: "validation_failed",
  message: `${pointer} ${detail}.`,
  extras: { errors: [{ pointer, detail }] },
});

describe("what an operator types", () => {
  it("is a name of 1 to 200 characters, whatever their length in UTF-16", () => {
    for (const name of ["a", " a ", "x".repeat(200), "😀".repeat(200)]) expect(checkedName(name)).to.equal(name);
    for (const name of ["x".repeat(201), "😀".repeat(201)])
      expect(refusalOf(() => checkedName(name))).to.deep.equal(refused("/name", "must have at most 200 characters"));
    for (const name of ["", " ", "\t\n", " ".repeat(201)])
      expect(refusalOf(() => checkedName(name))).to.deep.equal(refused("/name", "must not be blank"));
  });

  it("is a grace of 0 seconds to 90 days", () => {
    for (const seconds of [0, 1, 7_776_000]) expect(checkedGrace(seconds)).to.equal(seconds);
    for (const seconds of [-1, 0.5, 7_776_001, NaN, Infinity])
      expect(refusalOf(() => checkedGrace(seconds))).to.deep.equal(
        refused("/grace_seconds", "must be a whole number from 0 to 7776000"),
      );
  });
});
