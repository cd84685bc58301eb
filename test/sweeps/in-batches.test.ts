import { expect } from "chai";
import { inBatches } from "../../src/sweeps/sweep.ts";

describe("work in batches", () => {
  /** Items that are found two at a time. Processing an item removes it, unless it is listed in `stuck`. */
  function queueOf(items: string[], stuck: string[] = []) {
    const seen: string[] = [];
    const left = new Set(items);
    return {
      seen,
      left,
      find: () => Promise.resolve([...left].slice(0, 2)),
      handle: (item: string) => {
        seen.push(item);
        return stuck.includes(item)
          ? Promise.reject(new Error(`${item} is stuck`))
          : Promise.resolve(left.delete(item));
      },
    };
  }
  const never = new AbortController().signal;

  it("continues until nothing is found", async () => {
    const { find, handle, left } = queueOf(["a", "b", "c", "d", "e"]);
    expect(await inBatches(find, handle, never)).to.equal(5);
    expect([...left]).to.deep.equal([]);
  });

  it("processes the rest of a batch if one item fails, then throws all failures", async () => {
    const { find, handle, left } = queueOf(["a", "b"], ["a"]);
    const error = await inBatches(find, handle, never).catch((fault: unknown) => fault);
    expect(error).to.be.instanceOf(AggregateError);
    expect((error as AggregateError).errors.map(String)).to.deep.equal(["Error: a is stuck"]);
    expect([...left]).to.deep.equal(["a"]);
  });

  it("ends if a batch makes no progress", async () => {
    const { find, seen } = queueOf(["a", "b"]);
    const handle = (item: string) => Promise.resolve(seen.push(item) > 99);
    expect(await inBatches(find, handle, never)).to.equal(0);
    expect(seen).to.deep.equal(["a", "b"]);
  });

  it("ends between two items when it is aborted", async () => {
    const { find, handle, left } = queueOf(["a", "b", "c"]);
    const controller = new AbortController();
    const first = (item: string) => {
      controller.abort();
      return handle(item);
    };
    expect(await inBatches(find, first, controller.signal)).to.equal(1);
    expect([...left]).to.deep.equal(["b", "c"]);
  });

  it("says how many items failed, and how many were handled in this batch and those before", async () => {
    const { find, handle } = queueOf(["a", "b", "c", "d"], ["c", "d"]);
    const error = (await inBatches(find, handle, never).catch((fault: unknown) => fault)) as AggregateError;
    expect(error.message).to.equal("2 items failed, 2 were handled");
    expect(error.errors.map(String)).to.deep.equal(["Error: c is stuck", "Error: d is stuck"]);
  });

  it("goes on after a batch of which only a part had something to do", async () => {
    const { find, handle, left, seen } = queueOf(["a", "b", "c"]);
    const handled = (item: string) => handle(item).then(() => item !== "a");
    expect(await inBatches(find, handled, never)).to.equal(2);
    expect([...left]).to.deep.equal([]);
    expect(seen).to.deep.equal(["a", "b", "c"]);
  });
});
