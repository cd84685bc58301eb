import { expect } from "chai";
import { newTypeId } from "../../src/infra/ids.ts";
import type { Decision } from "../../src/limiter/decision.ts";
import { keyRefused, rateLimitHeaders, refusalOf, secondsToReset } from "../../src/limiter/headers.ts";

const ADMITTED: Decision = {
  verdict: "admitted",
  surface: "create",
  account: { limit: 200, remaining: 190 },
  key: { limit: 100, remaining: 90 },
  grantRemaining: null,
  grantAmount: null,
  resetMs: 811_001,
  windowSeconds: 3600,
  window: 498_000,
};

/** The ids of two keys: one may come back as soon as an hour or two minutes end, the other 7 seconds after an hour. */
const PROMPT = "key_56";
const LATER = "key_1";

/** Returns how many seconds after the end of a window of this length a refused key is asked to come back. */
function delayOf(keyId: string, windowSeconds: number): number {
  const decision = { ...ADMITTED, verdict: "key_exhausted", windowSeconds } as const;
  return Number(refusalOf(decision, keyId)?.extras.members?.["retry_after"]) - secondsToReset(decision);
}

describe("the rate-limit headers", () => {
  it("show both windows", () => {
    expect(rateLimitHeaders(ADMITTED)).to.deep.equal({
      "RateLimit-Policy": '"account-create";q=200;w=3600, "key-create";q=100;w=3600',
      RateLimit: '"account-create";r=190;t=812, "key-create";r=90;t=812',
    });
  });

  it("show a live grant as a third policy", () => {
    expect(rateLimitHeaders({ ...ADMITTED, grantRemaining: 0, grantAmount: 5000 })).to.deep.equal({
      "RateLimit-Policy": '"account-create";q=200;w=3600, "key-create";q=100;w=3600, "grant-create";q=5000',
      RateLimit: '"account-create";r=190;t=812, "key-create";r=90;t=812, "grant-create";r=0',
    });
  });

  it("round the time up to whole seconds, at least one", () => {
    const seconds = [1, 999, 1000, 1001, 3_600_000].map((resetMs) => secondsToReset({ resetMs }));
    expect(seconds).to.deep.equal([1, 1, 1, 2, 3600]);
  });
});

describe("a refusal", () => {
  it("is undefined if the request is admitted", () => {
    expect([refusalOf(ADMITTED, PROMPT), refusalOf({ ...ADMITTED, verdict: "granted" }, PROMPT)]).to.deep.equal([
      undefined,
      undefined,
    ]);
  });

  it("says which window is exhausted and when to retry", () => {
    const refusal = refusalOf({ ...ADMITTED, verdict: "account_exhausted" }, PROMPT);
    expect(refusal).to.include({ code: "rate_limited" });
    expect(refusal?.detail).to.match(/^Too many requests.* try again shortly/);
    expect(refusal?.extras).to.deep.include({
      members: {
        type: "https://iana.org/assignments/http-problem-types#quota-exceeded",
        "violated-policies": ["account-create"],
        surface: "create",
        scope: "account",
        limit: 200,
        retry_after: 812,
      },
      headers: { "Retry-After": "812" },
    });
    expect(refusalOf({ ...ADMITTED, verdict: "key_exhausted" }, PROMPT)?.extras.members).to.deep.include({
      scope: "key",
      "violated-policies": ["key-create"],
      limit: 100,
    });
  });

  it("says the numbers of each decision, also right after one that differs in a single number", () => {
    const refused = { ...ADMITTED, verdict: "key_exhausted" } as const;
    const members = (decision: Decision) => refusalOf(decision, PROMPT)?.extras.members;
    const text = (decision: Decision) => refusalOf(decision, PROMPT)?.detail;
    const smaller = { ...refused, key: { limit: 7, remaining: 0 } };
    const later = { ...refused, resetMs: refused.resetMs + 60_000 };
    const daily = { ...refused, windowSeconds: 86_400 };
    expect(members(refused)).to.include({ limit: refused.key.limit });
    expect(members(smaller)).to.include({ limit: 7 });
    expect(members(later)).to.include({ limit: refused.key.limit, retry_after: secondsToReset(later) });
    expect(members(refused)).to.include({ retry_after: secondsToReset(refused) });
    expect(text(refused)).to.contain("in an hour");
    expect(text(daily)).to.contain("in 1440 minutes");
  });

  for (const [resetMs, windowSeconds, window, wait] of [
    [1, 1, "1 second", "1 second"],
    [1_001, 3600, "an hour", "2 seconds"],
    [119_000, 119, "119 seconds", "119 seconds"],
    [119_001, 120, "2 minutes", "2 minutes"],
    [120_001, 121, "3 minutes", "3 minutes"],
    [3_600_000, 3601, "61 minutes", "60 minutes"],
  ] as const) {
    it(`says a window of ${windowSeconds} s and a wait of ${resetMs} ms as a person would`, () => {
      const decision = { ...ADMITTED, resetMs, windowSeconds };
      expect(refusalOf({ ...decision, verdict: "account_exhausted" }, PROMPT)?.detail).to.equal(
        `Too many requests: this account may make 200 create requests in ${window}. Please try again shortly: in ${wait}.`,
      );
      expect(refusalOf({ ...decision, verdict: "key_exhausted", surface: "list" }, PROMPT)?.detail).to.equal(
        `Too many requests: this key may make 100 list requests in ${window}. Please try again shortly: in ${wait}.`,
      );
    });
  }

  it("is made anew for every surface and scope, and is the same for the same numbers", () => {
    const refused = { ...ADMITTED, verdict: "key_exhausted", resetMs: 77_000 } as const;
    const again = refusalOf(refused, PROMPT);
    expect(refusalOf({ ...refused, surface: "writes" }, PROMPT)?.extras.members).to.include({ surface: "writes" });
    const whole = { ...refused, verdict: "account_exhausted", account: refused.key } as const;
    expect(refusalOf(whole, PROMPT)?.extras.members).to.include({ scope: "account" });
    expect(refusalOf(refused, PROMPT)).to.equal(again);
  });

  it("asks a key to come back up to 30 seconds after the hour, always the same, and other keys at other times", () => {
    const ids = Array.from({ length: 1_000 }, () => newTypeId("key"));
    const delays = ids.map((id) => delayOf(id, 3600));
    expect([...new Set(delays)].toSorted((one, other) => one - other)).to.deep.equal(
      Array.from({ length: 31 }, (_, n) => n),
    );
    expect(ids.map((id) => delayOf(id, 3600))).to.deep.equal(delays);
  });

  it("says the delay in the header, the problem and its detail, and leaves RateLimit as it is", () => {
    const decision = { ...ADMITTED, verdict: "key_exhausted", resetMs: 60_000 } as const;
    const refusal = refusalOf(decision, LATER);
    expect(refusal?.extras.members).to.include({ retry_after: 67 });
    expect(refusal?.extras.headers).to.deep.equal({ "Retry-After": "67" });
    expect(refusal?.detail).to.match(/in 67 seconds\.$/);
    expect(rateLimitHeaders(decision)["RateLimit"]).to.equal('"account-create";r=190;t=60, "key-create";r=90;t=60');
  });

  it("delays a key by at most 1/120 of the window, and not at all if that is less than a second", () => {
    const ids = Array.from({ length: 200 }, () => newTypeId("key"));
    const longest = [1, 119, 120, 239, 240].map((seconds) => Math.max(...ids.map((id) => delayOf(id, seconds))));
    expect(longest).to.deep.equal([0, 0, 1, 1, 2]);
    expect(Math.min(...ids.map((id) => delayOf(id, 240)))).to.equal(0);
  });

  it("challenges a replaced secret with WWW-Authenticate", () => {
    const refusal = refusalOf({ ...ADMITTED, verdict: "replaced" }, PROMPT);
    expect(refusal).to.include({ code: "api_key_invalid" });
    expect(refusal?.extras.headers?.["WWW-Authenticate"]).to.match(/^Bearer .*error="invalid_token"/);
  });

  it("is store_unavailable for a key whose account is changed again and again while it is looked up", () => {
    const refusal = keyRefused("outdated");
    expect(refusal).to.include({ code: "store_unavailable" });
    expect(refusal.extras.headers).to.deep.equal({ "Retry-After": "1" });
    expect(refusal.detail).to.match(/being changed.*Try again/);
  });
});
