import { mock } from "node:test";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { LookupBatches } from "../../src/accounts/lookup-batches.ts";
import { useNoService } from "../support/use-service.ts";

/** Returns a promise of the store's response, and the function that fulfils it. */
function held(): [response: Promise<ReadonlySet<string>>, open: (existing: ReadonlySet<string>) => void] {
  let open: (existing: ReadonlySet<string>) => void = () => undefined;
  const response = new Promise<ReadonlySet<string>>((resolve) => (open = resolve));
  return [response, open];
}

describe("LookupBatches", () => {
  useNoService();

  it("asks for no more than a batch may hold, and again for what comes later", async () => {
    const asked: (readonly string[])[] = [];
    const findExisting = (hashes: readonly string[]) => {
      asked.push(hashes);
      return Promise.resolve(new Set(hashes));
    };
    const batches = new LookupBatches({ findExisting, everyMs: 1, size: 2 });
    await Promise.all(["a", "b", "c", "d"].map((hash) => batches.exists(hash)));
    expect(asked).to.deep.equal([["a"], ["b", "c"], ["d"]]);
    expect(await batches.exists("e")).to.equal(true);
    expect(asked.slice(3)).to.deep.equal([["e"]]);
  });

  it("begins no batch while another one runs, and none before its pause is over", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const asked: (readonly string[])[] = [];
      const [response, open] = held();
      const findExisting = (hashes: readonly string[]) => (asked.push(hashes), response);
      const batches = new LookupBatches({ findExisting });
      const responses = ["a", "b"].map((hash) => batches.exists(hash));
      mock.timers.tick(100);
      await setImmediate();
      expect(asked, "the first one runs").to.deep.equal([["a"]]);
      open(new Set());
      await setImmediate();
      expect(asked, "it took longer than the pause").to.deep.equal([["a"], ["b"]]);
      await Promise.all(responses);
      const later = batches.exists("c");
      mock.timers.tick(99);
      await setImmediate();
      expect(asked).to.have.length(2);
      mock.timers.tick(1);
      expect(await later).to.equal(false);
      expect(asked).to.deep.equal([["a"], ["b"], ["c"]]);
    } finally {
      mock.timers.reset();
    }
  });
});
