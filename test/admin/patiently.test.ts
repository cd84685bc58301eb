import { expect } from "chai";
import { patiently } from "../../src/admin/command.ts";
import { problem } from "../../src/problems.ts";

describe("an import or export", () => {
  it("goes on when the store responds again, and waits for nothing else", async function () {
    this.timeout(10_000); // it waits for a second
    let tries = 0;
    const failing = (error: Error) => async () => {
      if (++tries === 1) throw error;
      return "done";
    };
    expect(await patiently(failing(problem("store_unavailable", "away")))).to.equal("done");
    expect(tries).to.equal(2);
    tries = 0;
    const failed = await patiently(failing(problem("not_found", "none"))).catch((error: unknown) => String(error));
    expect(failed).to.include("none");
  });
});
