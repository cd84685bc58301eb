import { mock } from "node:test";
import { setImmediate, setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { MongoServerError } from "mongodb";
import { WritesInFlight } from "../../src/candidates/writes-in-flight.ts";
import { useNoService } from "../support/use-service.ts";

describe("writes whose outcome is unknown", function () {
  useNoService();
  const COUNT = 2_000;
  const reserved = (at: number) => ({ at, now: at, reservedAt: performance.now() });

  it("are looked for by a few workers, rarely while the store is down, and each until it is settled", async () => {
    let down = true;
    let looks = 0;
    let running = 0;
    let most = 0;
    const renewed = new Set<string>();
    const writes = new WritesInFlight(async ({ id }) => {
      looks++;
      most = Math.max(most, ++running);
      await setTimeout(1);
      running--;
      if (down) throw new Error("down");
      renewed.add(id);
      return true;
    });
    for (let n = 0; n < COUNT; n++) writes.settleLater({ accountId: "acct", id: `cand_${n}` }, reserved(Date.now()));
    expect(await writes.settled(2_000)).to.equal(false);
    expect(looks, "while the store was down").to.be.within(1, 50);
    down = false;
    expect(await writes.settled(30_000)).to.equal(true);
    expect(renewed.size).to.equal(COUNT);
    expect(most).to.be.at.most(8);
    expect(writes.state()).to.deep.equal({ lagMs: 0, unsettled: 0 });
  });

  it("are looked for less often while some looks fail, though others succeed after them", async () => {
    let failed = 0;
    const writes = new WritesInFlight(async ({ id }) => {
      if (id !== "cand_0") return setTimeout(1, true);
      failed++;
      throw new Error("down");
    });
    for (let n = 0; n < 100; n++) writes.settleLater({ accountId: "acct", id: `cand_${n}` }, reserved(Date.now()));
    expect(await writes.settled(1_600)).to.equal(false);
    expect(failed, "after 250 ms and 750 ms, before 1,750 ms").to.be.within(1, 2);
  });

  it("hold the checkpoint of their process back until they are settled", async () => {
    let found = false;
    const writes = new WritesInFlight(() => Promise.resolve(found));
    expect(writes.earliest(1_000)).to.equal(1_000);
    const failed = writes.during([{ accountId: "acct", id: "cand_1" }], reserved(700), () =>
      Promise.reject(new Error("no answer")),
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
    it(`hold the checkpoint at the earliest position of a candidate whose writes at ${places.join(" and ")} fail`, async () => {
      const writes = new WritesInFlight(() => Promise.resolve(true));
      const candidate = { accountId: "acct", id: "cand_1" };
      for (const at of places) writes.settleLater(candidate, reserved(at));
      expect(writes.earliest(1_000)).to.equal(700);
      expect(await writes.settled(5_000)).to.equal(true);
    });

  it("are not settled by a look that began before another write of the same candidate failed", async () => {
    let looks = 0;
    const candidate = { accountId: "acct", id: "cand_1" };
    const place = reserved(Date.now());
    const writes = new WritesInFlight(() => {
      if (++looks === 1) writes.settleLater(candidate, place);
      return Promise.resolve(true);
    });
    writes.settleLater(candidate, place);
    expect(await writes.settled(5_000)).to.equal(true);
    expect(looks).to.equal(2);
  });

  it("are waited for while they are under way, not only once their outcome is unknown", async () => {
    const writes = new WritesInFlight(() => Promise.resolve(true));
    let end = () => {};
    const write = writes.during([], reserved(Date.now()), () => new Promise<void>((resolve) => (end = resolve)));
    expect(await writes.settled(1)).to.equal(false);
    const settled = writes.settled(5_000);
    end();
    await write;
    expect(await settled).to.equal(true);
  });

  it("are as old as the oldest of them, under way or not", async () => {
    const candidate = (n: number) => ({ accountId: "acct", id: `cand_${n}` });
    const before = (ms: number) => ({ at: 0, now: 0, reservedAt: performance.now() - ms });
    const writes = new WritesInFlight(() => Promise.resolve(true));
    expect(writes.state()).to.deep.equal({ lagMs: 0, unsettled: 0 });
    let end = () => {};
    const write = writes.during([], before(200_000), () => new Promise<void>((resolve) => (end = resolve)));
    expect(writes.state().lagMs).to.be.within(200_000, 300_000);
    writes.settleLater(candidate(1), before(400_000));
    expect(writes.state().lagMs).to.be.within(400_000, 500_000);
    writes.settleLater(candidate(2), before(1));
    expect(writes.state()).to.deep.include({ unsettled: 2 });
    expect(writes.state().lagMs).to.be.within(400_000, 500_000);
    expect(await writes.settled(0)).to.equal(false);
    end();
    await write;
    expect(await writes.settled(5_000)).to.equal(true);
  });

  it("do not include one that was refused, nor one that has succeeded", async () => {
    const writes = new WritesInFlight(() => Promise.reject(new Error("nothing to look for")));
    const candidate = { accountId: "acct", id: "cand_1" };
    const refused = new MongoServerError({ message: "duplicate", code: 11000 });
    const outcome = await writes
      .during([candidate], reserved(Date.now()), () => Promise.reject(refused))
      .catch((e: unknown) => e);
    expect(outcome).to.equal(refused);
    expect(await writes.during([candidate], reserved(Date.now()), () => Promise.resolve("written"))).to.equal(
      "written",
    );
    expect(writes.state()).to.deep.equal({ lagMs: 0, unsettled: 0 });
    expect(await writes.settled(0)).to.equal(true);
  });

  it("are looked for by their account and id, and again after twice the time if the candidate is missing", async () => {
    const looks: { of: string; at: number }[] = [];
    const writes = new WritesInFlight(({ accountId, id }) => {
      looks.push({ of: `${accountId} ${id}`, at: performance.now() });
      return Promise.resolve(looks.length === 2);
    });
    const began = performance.now();
    writes.settleLater({ accountId: "acct", id: "cand_1" }, reserved(Date.now()));
    expect(await writes.settled(10_000)).to.equal(true);
    expect(looks.map(({ of }) => of)).to.deep.equal(["acct cand_1", "acct cand_1"]);
    const [first = 0, second = 0] = looks.map(({ at }) => at);
    expect(first - began).to.be.above(245);
    expect(second - first).to.be.above(495);
  });

  it("are looked for until two minutes have passed if the candidate stays missing", async () => {
    let now = 0;
    mock.method(performance, "now", () => now);
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const looks: number[] = [];
      const writes = new WritesInFlight(() => {
        looks.push(now / 1_000);
        return Promise.resolve(false);
      });
      writes.settleLater({ accountId: "acct", id: "cand_1" }, reserved(Date.now()));
      while (writes.state().unsettled > 0 && now < 200_000) {
        mock.timers.tick(250);
        now += 250;
        await setImmediate();
      }
      expect(looks).to.deep.equal([0.25, 0.75, 1.75, 3.75, 7.75, 15.75, 31.75, 63.75, 127.75]);
      expect(writes.state().unsettled).to.equal(0);
    } finally {
      mock.timers.reset();
      mock.restoreAll();
    }
  });
});
