import { expect } from "chai";
import { inBatches } from "../../src/sweeps/in-batches.ts";

describe("work in batches", () => {
  /** A pile of things, found two at a time; dealing with one takes it away unless it is stuck. */
  function pile(things: string[], stuck: string[] = []) {
    const seen: string[] = [];
    const left = new Set(things);
    return {
      seen,
      left,
      find: () => Promise.resolve([...left].slice(0, 2)),
      deal: (thing: string) => {
        seen.push(thing);
        return stuck.includes(thing)
          ? Promise.reject(new Error(`${thing} is stuck`))
          : Promise.resolve(left.delete(thing));
      },
    };
  }
  const never = new AbortController().signal;

  it("goes on until nothing is found", async () => {
    const { find, deal, left } = pile(["a", "b", "c", "d", "e"]);
    expect(await inBatches(find, deal, never)).to.equal(5);
    expect([...left]).to.deep.equal([]);
  });

  it("gives the others of a batch their turn where one fails, then tells every failure", async () => {
    const { find, deal, left } = pile(["a", "b"], ["a"]);
    const error = await inBatches(find, deal, never).catch((fault: unknown) => fault);
    expect(error).to.be.instanceOf(AggregateError);
    expect((error as AggregateError).errors.map(String)).to.deep.equal(["Error: a is stuck"]);
    expect([...left]).to.deep.equal(["a"]);
  });

  it("ends where nothing more can be done about what it finds", async () => {
    const { find, seen } = pile(["a", "b"]);
    const deal = (thing: string) => Promise.resolve(seen.push(thing) > 99);
    expect(await inBatches(find, deal, never)).to.equal(0);
    expect(seen).to.deep.equal(["a", "b"]);
  });

  it("ends between two things when it is told to", async () => {
    const { find, deal, left } = pile(["a", "b", "c"]);
    const told = new AbortController();
    const first = (thing: string) => {
      told.abort();
      return deal(thing);
    };
    expect(await inBatches(find, first, told.signal)).to.equal(1);
    expect([...left]).to.deep.equal(["b", "c"]);
  });
});
