import { expect } from "chai";
import { checkedName } from "../../src/accounts/account.ts";
import { Problem, wholeNumber } from "../../src/problems.ts";

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

  it("is a whole number within bounds", () => {
    for (const days of [1, 2, 90]) expect(wholeNumber("/days", days, 1, 90)).to.equal(days);
    for (const days of [0, -1, 1.5, 91, NaN, Infinity])
      expect(refusalOf(() => wholeNumber("/days", days, 1, 90))).to.deep.equal(
        refused("/days", "must be a whole number from 1 to 90"),
      );
  });
});
