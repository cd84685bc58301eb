import { expect } from "chai";
import { LookUpBatches } from "../../src/accounts/look-up-batches.ts";

describe("LookUpBatches", () => {
  it("rejects all that wait if the store fails, without asking it again for each", async () => {
    let asked = 0;
    const failing = () => Promise.reject(new Error(`down ${++asked}`));
    const batches = new LookUpBatches({ findExisting: failing, size: 1, everyMs: 1 });
    const outcomes = await Promise.allSettled(["a", "b", "c"].map((hash) => batches.exists(hash)));
    expect(outcomes.map((outcome) => outcome.status === "rejected" && String(outcome.reason))).to.deep.equal(
      Array.from({ length: 3 }, () => "Error: down 1"),
    );
    expect(asked).to.equal(1);
  });

  it("asks for many in one batch, and answers each", async () => {
    const asked: (readonly string[])[] = [];
    const findExisting = (hashes: readonly string[]) => {
      asked.push(hashes);
      return Promise.resolve(new Set(["a", "c"]));
    };
    const batches = new LookUpBatches({ findExisting, everyMs: 1 });
    expect(await Promise.all(["a", "b", "c"].map((hash) => batches.exists(hash)))).to.deep.equal([true, false, true]);
    expect(asked).to.deep.equal([["a"], ["b", "c"]]);
  });
});
