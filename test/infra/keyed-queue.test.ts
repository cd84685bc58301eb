import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { KeyedQueue } from "../../src/infra/compare-and-set.ts";
import { problem } from "../../src/problems.ts";

/** A task that the test ends. */
function task(name: string, begun: string[]) {
  let end = (_error?: Error): void => undefined;
  const ended = new Promise<string>((resolve, reject) => {
    end = (error) => (error === undefined ? resolve(name) : reject(error));
  });
  const run = (): Promise<string> => {
    begun.push(name);
    return ended;
  };
  return { run, end: (error?: Error) => end(error) };
}

describe("A queue per key", () => {
  it("runs tasks of one key one after the other, also one that comes while the second runs, and others meanwhile", async () => {
    const queue = new KeyedQueue();
    const begun: string[] = [];
    const [a, b, c, other] = ["a", "b", "c", "other"].map((name) => task(name, begun));
    const results = [queue.run("k", a!.run), queue.run("k", b!.run), queue.run("l", other!.run)];
    await setImmediate();
    expect(begun).to.deep.equal(["a", "other"]);
    a!.end();
    await setImmediate();
    results.push(queue.run("k", c!.run));
    await setImmediate();
    expect(begun).to.deep.equal(["a", "other", "b"]);
    for (const each of [b, c, other]) each!.end();
    expect(await Promise.all(results)).to.deep.equal(["a", "b", "other", "c"]);
  });

  it("goes on after a task that failed, and only its own caller gets the error", async () => {
    const queue = new KeyedQueue();
    const failed = queue.run("k", () => Promise.reject(new Error("no"))).catch(String);
    const next = queue.run("k", () => Promise.resolve("yes"));
    expect(await Promise.all([failed, next])).to.deep.equal(["Error: no", "yes"]);
  });

  it("rejects what waits if the store is down, and takes new tasks afterwards", async () => {
    const queue = new KeyedQueue();
    let ran = 0;
    const count = () => Promise.resolve(++ran);
    const down = queue.run("k", () => Promise.reject(problem("store_unavailable", "down", { cause: "down" })));
    const outcomes = await Promise.allSettled([down, queue.run("k", count), queue.run("l", count)]);
    expect(outcomes.map(({ status }) => status)).to.deep.equal(["rejected", "rejected", "fulfilled"]);
    expect(await queue.run("k", count)).to.equal(2);
  });
});
