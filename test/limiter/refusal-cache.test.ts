import { expect } from "chai";
import type { ChargeRequest, Verdict } from "../../src/limiter/decision.ts";
import { ISSUE_WAIT_MS } from "../../src/limiter/refusal-cache.ts";
import { REFUSAL, REQUEST, useRefusalCache } from "./refusal-scene.ts";

describe("the cache of refusals", () => {
  const scene = useRefusalCache();
  const { refuse, isRepeated } = scene;
  /** The request that asks Redis before a refusal ends. Its reply is still under way. */
  const renew = () => expect(isRepeated(), "the one that asks").to.equal(false);

  it("repeats a refusal, with everything that Redis said", () => {
    refuse(10);
    expect(scene.cache.find(REQUEST)).to.deep.equal(REFUSAL);
    expect(scene.cache.find({ ...REQUEST, cost: 1 })).to.deep.equal(REFUSAL);
  });

  it("repeats the latest refusal", () => {
    refuse(10);
    refuse(1, { decision: { ...REFUSAL, window: 43 } });
    expect(scene.cache.find(REQUEST)).to.deep.equal({ ...REFUSAL, window: 43 });
  });

  describe("for a time", () => {
    const lives = [
      ["account_exhausted", 1_000],
      ["key_exhausted", 100],
    ] as const;
    for (const [verdict, lifeMs] of lives) {
      it(`repeats ${verdict} until ${lifeMs} ms after the charge was sent`, () => {
        refuse(10, { decision: { ...REFUSAL, verdict }, way: 30 });
        scene.now += lifeMs - 30 - 0.5;
        renew();
        expect(isRepeated()).to.equal(true);
        scene.now += 0.5;
        expect(isRepeated()).to.equal(false);
      });
    }

    it("has ended once the issue of a grant has waited", () => {
      refuse(10);
      scene.now += ISSUE_WAIT_MS - 50; // timers may fire early
      expect([isRepeated(), isRepeated()]).to.deep.equal([false, false]);
    });

    it("asks Redis with one request when four fifths of that time are over", () => {
      refuse(10);
      scene.now += 799.5;
      expect(isRepeated()).to.equal(true);
      scene.now += 0.5;
      expect([isRepeated(), isRepeated(), isRepeated()]).to.deep.equal([false, true, true]);
      refuse(1); // the reply to the first
      scene.now += 799.5;
      expect(isRepeated()).to.equal(true);
    });

    it("asks Redis again with the next request if the reply was not a refusal that may be repeated", () => {
      refuse(10, { decision: { ...REFUSAL, verdict: "key_exhausted" } });
      scene.now += 99;
      renew();
      refuse(1, { decision: { ...REFUSAL, verdict: "admitted" } });
      scene.now += 1;
      expect([isRepeated(), isRepeated()]).to.deep.equal([false, false]);
    });

    it("repeats nothing that arrives too late", () => {
      refuse(10, { way: 1_000 });
      expect(isRepeated()).to.equal(false);
    });

    it("ends 2 ms before the window does, counted from the sending", () => {
      refuse(10, { decision: { ...REFUSAL, resetMs: 500 }, way: 30 });
      scene.now += 467.5;
      renew();
      expect(isRepeated()).to.equal(true);
      scene.now += 0.5;
      expect(isRepeated()).to.equal(false);
    });

    it("says how much of the window remains: not less than does, in whole milliseconds", () => {
      refuse(10, { way: 30 });
      scene.now += 400.25;
      expect(scene.cache.find(REQUEST)).to.deep.equal({ ...REFUSAL, resetMs: 59_600 });
    });
  });

  describe("repeats nothing", () => {
    const verdicts: Verdict[] = ["admitted", "granted", "outdated", "replaced"];
    for (const verdict of verdicts) {
      it(`after ${verdict}`, () => {
        refuse(10, { decision: { ...REFUSAL, verdict } });
        expect(isRepeated()).to.equal(false);
      });
    }

    it("if the reply shows a live grant, even an empty one", () => {
      refuse(10, { decision: { ...REFUSAL, grantRemaining: 0, grantAmount: 5 } });
      expect(isRepeated()).to.equal(false);
    });

    it("of a request that costs more than one", () => {
      refuse(10, { request: { ...REQUEST, cost: 2 } });
      expect(isRepeated()).to.equal(false);
    });

    it("to a request that costs more than one", () => {
      refuse(10);
      expect(isRepeated({ ...REQUEST, cost: 2 })).to.equal(false);
    });
  });

  describe("after a connection was lost or made", () => {
    it("has dropped all refusals, and counts anew", () => {
      refuse(10);
      scene.connection.changes++;
      expect(isRepeated()).to.equal(false);
      refuse(9);
      expect(isRepeated()).to.equal(false);
      refuse(1);
      expect(isRepeated()).to.equal(true);
    });

    it("forgets the refusals of other keys, too", () => {
      const other = { ...REQUEST, keyId: "key_other" };
      refuse(10, { request: other });
      scene.connection.changes++;
      refuse(10);
      expect(isRepeated(other)).to.equal(false);
    });

    it("ignores the replies of charges that were sent before", () => {
      const sending = scene.cache.sent();
      const replies = () => {
        for (let i = 0; i < 10; i++) scene.cache.keep(REQUEST, { ...REFUSAL, window: 41 }, sending);
      };
      scene.connection.changes++;
      replies();
      expect(isRepeated()).to.equal(false);
      refuse(10);
      replies();
      expect(scene.cache.find(REQUEST)).to.deep.equal(REFUSAL);
    });

    it("keeps the replies of charges that were sent after it", () => {
      scene.connection.changes++;
      refuse(10);
      expect(isRepeated()).to.equal(true);
    });
  });

  it("remembers 10,000 keys and surfaces, those that were used last", () => {
    const requestOf = (n: number): ChargeRequest => ({ ...REQUEST, keyId: `key_${n}` });
    for (let n = 0; n < 10_000; n++) refuse(10, { request: requestOf(n) });
    expect([0, 1, 9_999].map((n) => isRepeated(requestOf(n)))).to.deep.equal([true, true, true]);
    refuse(10, { request: requestOf(10_000) });
    expect([0, 1, 2, 3, 10_000].map((n) => isRepeated(requestOf(n)))).to.deep.equal([true, true, false, true, true]);
  });
});
