import { expect } from "chai";
import { Gathered } from "../../src/infra/gathered.ts";

/** @param handle is told the items of each call. */
function gathering(
  gapMs: number,
  handle: (items: readonly number[]) => Promise<void> = () => Promise.resolve(),
  options: { most?: number; failTogether?: true } = {},
) {
  const calls: number[][] = [];
  const begunAt: number[] = [];
  const gathered = new Gathered<number>(
    (items) => {
      calls.push([...items]);
      begunAt.push(performance.now());
      return handle(items);
    },
    { gapMs, ...options },
  );
  return { gathered, calls, begunAt };
}

describe("Items that are gathered", () => {
  it("are handled at once if they come alone, and else together after the gap", async () => {
    const { gathered, calls, begunAt } = gathering(200);
    await gathered.add(1);
    expect(calls).to.deep.equal([[1]]);
    await Promise.all([gathered.add(2), gathered.add(3)]);
    expect(calls).to.deep.equal([[1], [2, 3]]);
    expect(begunAt[1]! - begunAt[0]!).to.be.at.least(199); // timers fire up to 1 ms early
  });

  it("do not wait before the first call, however long the gap is", async () => {
    const { gathered, calls } = gathering(3_600_000);
    await gathered.add(1);
    expect(calls).to.deep.equal([[1]]);
  });

  it("are handled before the gap is over if they are flushed", async () => {
    const { gathered, calls } = gathering(3_600_000);
    await gathered.add(1);
    const both = Promise.all([gathered.add(2), gathered.add(3)]);
    expect(gathered.size).to.equal(2);
    gathered.flush();
    await both;
    expect(gathered.size).to.equal(0);
    expect(calls).to.deep.equal([[1], [2, 3]]);
  });

  it("are handled by the next call if they come during one", async () => {
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const { gathered, calls } = gathering(0, () => {
      begin();
      return ended;
    });
    const first = gathered.add(1);
    await begun;
    const second = gathered.add(2);
    end();
    await Promise.all([first, second]);
    expect(calls).to.deep.equal([[1], [2]]);
  });

  it("share the failure of their call, and no other", async () => {
    const failure = new Error("The store is down.");
    const { gathered } = gathering(0, async (items) => {
      if (items.includes(1)) throw failure;
    });
    const both = [gathered.add(1), gathered.add(2)].map((each) => each.catch((error: unknown) => error));
    expect(await Promise.all(both)).to.deep.equal([failure, failure]);
    await gathered.add(3);
  });

  it("are handled in several calls if there are more than one may have", async () => {
    const { gathered, calls } = gathering(0, undefined, { most: 2 });
    await Promise.all([1, 2, 3, 4, 5].map((item) => gathered.add(item)));
    expect(calls).to.deep.equal([[1, 2], [3, 4], [5]]);
  });

  it("fail together if that was asked for, and a later one does not", async () => {
    const failure = new Error("The store is down.");
    const fail = (items: readonly number[]) => (items.includes(4) ? Promise.resolve() : Promise.reject(failure));
    const { gathered, calls } = gathering(0, fail, { most: 2, failTogether: true });
    const all = [1, 2, 3].map((item) => gathered.add(item).catch((error: unknown) => error));
    expect(await Promise.all(all)).to.deep.equal([failure, failure, failure]);
    await gathered.add(4);
    expect(calls).to.deep.equal([[1, 2], [4]]);
  });
});
