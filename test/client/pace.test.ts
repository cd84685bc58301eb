import { expect } from "chai";
import { RateLimitError } from "../../src/client/errors.ts";
import { KnownLimits } from "../../src/client/limits.ts";

const HOUR = 3_600_000;
/** Milliseconds by which a wait may be shorter, because the clock goes on while the test runs. */
const SLACK = 10_000;

/** Returns the headers of a response. */
function answered(limits: string, policy = '"account";q=20;w=3600, "key";q=10;w=3600'): Headers {
  return new Headers({ "RateLimit-Policy": policy, RateLimit: limits });
}

/** Returns once the clock that the client reads has gone on so many milliseconds. */
function pass(ms: number): void {
  for (const end = performance.now() + ms; performance.now() <= end;);
}

describe("the pace of the client", () => {
  const WAITS: [what: string, headers: Headers, ms: number][] = [
    ["less than half of a limit is left", answered('"key";r=4;t=3600'), HOUR / 4],
    ["one request is left", answered('"key";r=1;t=3600'), HOUR],
    ["exactly half is left", answered('"key";r=5;t=3600'), 0],
    ["nothing is left", answered('"key";r=0;t=3600'), 0],
    ["two limits are short: the longer one counts", answered('"account";r=9;t=3600, "key";r=4;t=3600'), HOUR / 4],
    ["the second limit is short", answered('"account";r=20;t=3600, "key";r=2;t=3600'), HOUR / 2],
    ["the first limit is short", answered('"account";r=2;t=3600, "key";r=9;t=3600'), HOUR / 2],
    ["there are spaces", answered(' "key" ; r=4 ; t=3600 '.replace(" ;", ";"), '"key"; q=10; w=3600'), HOUR / 4],
    ["the rest is not said", answered('"key";t=3600'), 0],
    ["the end of the window is not said", answered('"key";r=4'), 0],
    ["the policy is of another limit", answered('"key";r=4;t=3600', '"account";q=10;w=3600'), 0],
    ["a grant adds to what is left", answered('"key";r=1;t=3600, "grant-reads";r=3'), HOUR / 4],
    ["a grant adds enough", answered('"key";r=1;t=3600, "grant-reads";r=4'), 0],
    ["a grant of an earlier service adds enough", answered('"key";r=1;t=3600, "grant";r=4'), 0],
    ["there is no policy", new Headers({ RateLimit: '"key";r=4;t=3600' }), 0],
    ["there is only a policy", new Headers({ "RateLimit-Policy": '"key";q=10;w=3600' }), 0],
  ];
  for (const [what, headers, ms] of WAITS) {
    it(`is ${ms === 0 ? "none" : `one call in ${ms / 60_000} minutes`} if ${what}`, () => {
      const limits = new KnownLimits(true);
      limits.note("reads", headers);
      expect(limits.turn("reads")).to.be.within(ms === 0 ? 0 : ms - SLACK, ms);
      expect(limits.turn("reads"), "the next one").to.be.within(ms === 0 ? 0 : 2 * ms - SLACK, 2 * ms);
      expect(limits.turn("writes"), "another surface").to.equal(0);
    });
  }

  it("counts a call of several as so many turns", () => {
    const limits = new KnownLimits(true);
    limits.note("reads", answered('"key";r=4;t=3600'));
    expect(limits.turn("reads", 3)).to.be.within(HOUR / 4 - SLACK, HOUR / 4);
    expect(limits.turn("reads"), "the next one").to.be.within(HOUR - SLACK, HOUR);
  });

  it("is none unless it is asked for", () => {
    const limits = new KnownLimits(false);
    limits.note("reads", answered('"key";r=4;t=3600'));
    expect(limits.turn("reads")).to.equal(0);
  });

  it("changes with each response, but keeps the turns that were taken", () => {
    const limits = new KnownLimits(true);
    limits.note("reads", answered('"key";r=4;t=3600'));
    limits.turn("reads");
    limits.note("reads", answered('"key";r=2;t=3600'));
    limits.note("reads", new Headers());
    expect(limits.turn("reads")).to.be.within(HOUR / 2 - SLACK, HOUR / 2);
    expect(limits.turn("reads")).to.be.within(HOUR - SLACK, HOUR);
  });

  it("forgets the turns that were taken in an earlier window", () => {
    const limits = new KnownLimits(true);
    limits.note("reads", answered('"key";r=1;t=3600'));
    limits.turn("reads");
    limits.note("reads", answered('"key";r=9;t=3600'));
    expect(limits.turn("reads")).to.equal(0);
    limits.note("reads", answered('"key";r=1;t=3600'));
    expect(limits.turn("reads")).to.be.within(HOUR - SLACK, HOUR);
  });

  it("takes a turn at once that has passed, and counts the next one from then", () => {
    const limits = new KnownLimits(true);
    limits.note("reads", answered('"key";r=1;t=0.001'));
    pass(20);
    limits.note("reads", answered('"key";r=1;t=3600'));
    expect(limits.turn("reads")).to.equal(0);
    expect(limits.turn("reads")).to.be.within(HOUR - SLACK, HOUR);
  });
});

describe("a refusal that the client remembers", () => {
  it("has what the refusal said, and the seconds that are left", () => {
    const limits = new KnownLimits(false);
    limits.hold("reads", new RateLimitError({ code: "rate_limited", scope: "key" }, "req_1", 3_600));
    pass(1);
    const held = limits.refusal("reads");
    expect(held).to.deep.include({ problem: { code: "rate_limited", scope: "key" }, requestId: "req_1" });
    expect(held?.retryAfter).to.be.within(3_590, 3_599.9995);
  });

  it("holds no longer than it says, and may be followed by another", () => {
    const limits = new KnownLimits(false);
    limits.hold("reads", new RateLimitError({}, "first", 0.001));
    pass(2);
    expect(limits.refusal("reads")).to.equal(undefined);
    limits.hold("reads", new RateLimitError({}, "second", 60));
    expect(limits.refusal("reads")).to.include({ requestId: "second" });
  });

  const refused = (seconds: number, remaining?: number, scope = "key") =>
    new RateLimitError({ scope, ...(remaining === undefined ? {} : { remaining }) }, undefined, seconds);

  it("of a cost says nothing about a smaller one, except how much is left", () => {
    const limits = new KnownLimits(false);
    limits.hold("create", refused(100), 50);
    expect(limits.refusal("create", 50)).not.to.equal(undefined);
    expect(limits.refusal("create", 49), "as long as its problem is not read").to.equal(undefined);
    limits.hold("create", refused(100, 7), 50);
    expect(limits.refusal("create", 8)).to.include({ remaining: 7 });
    for (const cost of [1, 7]) expect(limits.refusal("create", cost), `${cost}`).to.equal(undefined);
    limits.spend("create", 5);
    expect(limits.refusal("create", 2)).to.equal(undefined);
    expect(limits.refusal("create", 3)).to.include({ remaining: 2 });
  });

  it("of a small cost holds all larger ones, and one for the address holds all", () => {
    const limits = new KnownLimits(false);
    limits.hold("create", refused(3_600, 7), 50);
    limits.hold("create", refused(10, 0), 1);
    expect(limits.refusal("create")?.retryAfter).to.be.within(1, 10);
    expect(limits.refusal("create", 8)?.retryAfter).to.be.within(3_590, 3_600);
    limits.hold("writes", refused(10, undefined, "address"), 50);
    expect(limits.refusal("writes")).not.to.equal(undefined);
  });
});
