import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect } from "chai";
import { lock, tryLock } from "../../src/dev/lock.ts";
import { useFolder } from "./support.ts";

const LOCK = new URL("../../src/dev/lock.ts", import.meta.url).href;

describe("a folder's lock", () => {
  const folder = useFolder();

  it("has one holder at a time", async () => {
    const release = await tryLock(folder());
    expect(await tryLock(folder())).to.equal(undefined);
    release?.();
    (await tryLock(folder()))?.();
  });

  it("is independent of other folders' locks", async () => {
    const releases = [await tryLock(folder()), await tryLock(`${folder()}/other`)];
    for (const release of releases) release?.();
    expect(releases).to.not.include(undefined);
  });

  it("passes to one waiter after the other", async () => {
    const release = await tryLock(folder());
    let waits = 0;
    const waiting = [1, 2].map(() => lock(folder(), () => waits++));
    const first = await Promise.race([...waiting, new Promise((resolve) => setTimeout(resolve, 50, "nobody"))]);
    expect(first).to.equal("nobody");
    release?.();
    const next = await Promise.race(waiting);
    next();
    for (const each of waiting) (await each)();
    expect(waits).to.equal(2);
  });

  it("is free as soon as its holder is killed", async () => {
    const holder = `const { tryLock } = await import(${JSON.stringify(LOCK)}); await tryLock(${JSON.stringify(folder())}); console.log("held"); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "--eval", holder]);
    await once(child.stdout, "data");
    expect(await tryLock(folder())).to.equal(undefined);
    const release = lock(folder(), () => child.kill("SIGKILL"));
    (await release)();
  });
});
