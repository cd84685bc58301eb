import { expect } from "chai";
import type { ChargeRequest, Decision, Verdict } from "../../src/limiter/decision.ts";
import { ISSUE_WAIT_MS, RefusalCache } from "../../src/limiter/refusal-cache.ts";

const REQUEST: ChargeRequest = { accountId: "acct_1", keyId: "key_1", surface: "start" };

/** A refusal by an exhausted account, a minute before its window ends. */
const REFUSAL: Decision = {
  verdict: "account_exhausted",
  surface: "start",
  account: { limit: 20, remaining: 0 },
  key: { limit: 10, remaining: 7 },
  grantRemaining: null,
  grantAmount: null,
  resetMs: 60_000,
  windowSeconds: 3_600,
  window: 42,
};

describe("the cache of refusals", () => {
  let now: number;
  let connection: { changes: number };
  let cache: RefusalCache;
  beforeEach(() => {
    now = 5_000.25;
    connection = { changes: 3 };
    cache = new RefusalCache({ connection, timer: { now: () => now } });
  });

  /** Redis refuses as many requests at once. The answers arrive `way` milliseconds after the sending. */
  function refuse(times: number, { decision = REFUSAL, request = REQUEST, way = 0 } = {}): void {
    const sending = cache.sent();
    now += way;
    for (let i = 0; i < times; i++) cache.keep(request, decision, sending);
  }
  const isRepeated = (request = REQUEST): boolean => cache.find(request) !== undefined;

  it("repeats a refusal, with everything that Redis said", () => {
    refuse(10);
    expect(cache.find(REQUEST)).to.deep.equal(REFUSAL);
    expect(cache.find({ ...REQUEST, cost: 1 })).to.deep.equal(REFUSAL);
  });

  it("repeats the latest refusal", () => {
    refuse(10);
    refuse(1, { decision: { ...REFUSAL, window: 43 } });
    expect(cache.find(REQUEST)).to.deep.equal({ ...REFUSAL, window: 43 });
  });

  describe("in a flood only", () => {
    it("begins with the tenth refusal", () => {
      refuse(9);
      expect(isRepeated()).to.equal(false);
      refuse(1);
      expect(isRepeated()).to.equal(true);
    });

    it("counts the refusals that were sent within a second", () => {
      refuse(9);
      now += 999.5;
      refuse(1);
      expect(isRepeated()).to.equal(true);
    });

    it("counts anew after a second", () => {
      refuse(9);
      now += 1_000;
      refuse(9);
      expect(isRepeated()).to.equal(false);
      refuse(1);
      expect(isRepeated()).to.equal(true);
    });

    it("never begins if refusals come five times a second", () => {
      for (let i = 0; i < 30; i++, now += 200) {
        refuse(1);
        expect(isRepeated()).to.equal(false);
      }
    });

    it("counts each key and surface of an account alone", () => {
      const others: ChargeRequest[] = [
        { ...REQUEST, accountId: "acct_2" },
        { ...REQUEST, keyId: "key_2" },
        { ...REQUEST, surface: "create" },
      ];
      refuse(10);
      for (const request of others) {
        expect(isRepeated(request)).to.equal(false);
        refuse(9, { request });
        expect(isRepeated(request)).to.equal(false);
      }
    });
  });

  describe("for a time", () => {
    const lives = [
      ["account_exhausted", 1_000],
      ["key_exhausted", 100],
    ] as const;
    for (const [verdict, lifeMs] of lives) {
      it(`repeats ${verdict} until ${lifeMs} ms after the charge was sent`, () => {
        refuse(10, { decision: { ...REFUSAL, verdict }, way: 30 });
        now += lifeMs - 30 - 0.5;
        expect(isRepeated()).to.equal(true);
        now += 0.5;
        expect(isRepeated()).to.equal(false);
      });
    }

    it("has ended once the issue of a grant has waited", () => {
      refuse(10);
      now += ISSUE_WAIT_MS - 50; // timers may fire early
      expect(isRepeated()).to.equal(false);
    });

    it("asks Redis once in that time if the flood goes on", () => {
      refuse(10, { decision: { ...REFUSAL, verdict: "key_exhausted" } });
      now += 100;
      refuse(1, { decision: { ...REFUSAL, verdict: "key_exhausted" } });
      now += 99;
      expect(isRepeated()).to.equal(true);
    });

    it("repeats nothing that arrives too late", () => {
      refuse(10, { way: 1_000 });
      expect(isRepeated()).to.equal(false);
    });

    it("ends 2 ms before the window does, counted from the sending", () => {
      refuse(10, { decision: { ...REFUSAL, resetMs: 500 }, way: 30 });
      now += 467.5;
      expect(isRepeated()).to.equal(true);
      now += 0.5;
      expect(isRepeated()).to.equal(false);
    });

    it("says how much of the window remains: not less than does, in whole milliseconds", () => {
      refuse(10, { way: 30 });
      now += 400.25;
      expect(cache.find(REQUEST)).to.deep.equal({ ...REFUSAL, resetMs: 59_600 });
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

    it("if the answer shows a live grant, even an empty one", () => {
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
      connection.changes++;
      expect(isRepeated()).to.equal(false);
      refuse(9);
      expect(isRepeated()).to.equal(false);
      refuse(1);
      expect(isRepeated()).to.equal(true);
    });

    it("forgets the refusals of other keys, too", () => {
      const other = { ...REQUEST, keyId: "key_other" };
      refuse(10, { request: other });
      connection.changes++;
      refuse(10);
      expect(isRepeated(other)).to.equal(false);
    });

    it("ignores the answers of charges that were sent before", () => {
      const sending = cache.sent();
      const answers = () => {
        for (let i = 0; i < 10; i++) cache.keep(REQUEST, { ...REFUSAL, window: 41 }, sending);
      };
      connection.changes++;
      answers();
      expect(isRepeated()).to.equal(false);
      refuse(10);
      answers();
      expect(cache.find(REQUEST)).to.deep.equal(REFUSAL);
    });

    it("keeps the answers of charges that were sent after it", () => {
      connection.changes++;
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
