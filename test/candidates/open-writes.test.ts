import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { OpenWrites, take } from "../../src/candidates/open-writes.ts";

describe("writes whose outcome is unknown", function () {
  const COUNT = 2_000;

  it("are looked for by a few workers, rarely while the store is down, and each until it is settled", async () => {
    let down = true;
    let looks = 0;
    let running = 0;
    let most = 0;
    const renewed = new Set<string>();
    const writes = new OpenWrites(async (_accountId, id) => {
      looks++;
      most = Math.max(most, ++running);
      await setTimeout(1);
      running--;
      if (down) throw new Error("down");
      renewed.add(id);
      return true;
    });
    for (let n = 0; n < COUNT; n++) writes.settleLater({ accountId: "acct", id: `cand_${n}` }, take(Date.now));
    expect(await writes.settled(2_000)).to.equal(false);
    expect(looks, "while the store was down").to.be.within(1, 50);
    down = false;
    expect(await writes.settled(30_000)).to.equal(true);
    expect(renewed.size).to.equal(COUNT);
    expect(most).to.be.at.most(8);
    expect(writes.state()).to.deep.equal({ lagMs: 0, unsettled: 0 });
  });

  it("hold the mark of their process back until they are settled", async () => {
    let found = false;
    const writes = new OpenWrites(() => Promise.resolve(found));
    expect(writes.earliest(1_000)).to.equal(1_000);
    const failed = writes.during(
      [{ accountId: "acct", id: "cand_1" }],
      take(() => 700),
      () => Promise.reject(new Error("no answer")),
    );
    expect(writes.earliest(1_000), "under way").to.equal(700);
    await failed.catch(() => undefined);
    expect(writes.earliest(1_000), "unsettled").to.equal(700);
    found = true;
    expect(await writes.settled(5_000)).to.equal(true);
    expect(writes.earliest(1_000)).to.equal(1_000);
  });

  for (const places of [
    [700, 900],
    [900, 700],
  ])
    it(`hold the mark at the earliest place of a candidate whose writes at ${places.join(" and ")} fail`, async () => {
      const writes = new OpenWrites(() => Promise.resolve(true));
      const candidate = { accountId: "acct", id: "cand_1" };
      for (const at of places) writes.settleLater(candidate, { at, takenAt: performance.now() });
      expect(writes.earliest(1_000)).to.equal(700);
      expect(await writes.settled(5_000)).to.equal(true);
    });

  it("are not settled by a look that began before another write of the same candidate failed", async () => {
    let looks = 0;
    const candidate = { accountId: "acct", id: "cand_1" };
    const place = take(Date.now);
    const writes = new OpenWrites(() => {
      if (++looks === 1) writes.settleLater(candidate, place);
      return Promise.resolve(true);
    });
    writes.settleLater(candidate, place);
    expect(await writes.settled(5_000)).to.equal(true);
    expect(looks).to.equal(2);
  });

  it("are waited for while they are under way, not only once their outcome is unknown", async () => {
    const writes = new OpenWrites(() => Promise.resolve(true));
    let end = () => {};
    const write = writes.during([], take(Date.now), () => new Promise<void>((resolve) => (end = resolve)));
    expect(await writes.settled(1)).to.equal(false);
    const settled = writes.settled(5_000);
    end();
    await write;
    expect(await settled).to.equal(true);
  });
});
