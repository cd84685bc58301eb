import { randomBytes } from "node:crypto";
import { mock } from "node:test";
import { setImmediate, setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import type { Authenticator } from "../../src/accounts/authenticate.ts";
import type { Caller } from "../../src/accounts/caller.ts";
import { type GuardOptions, GuessLimiter } from "../../src/accounts/guess-limiter.ts";
import { makeKey } from "../../src/accounts/key.ts";
import type { AccountStore } from "../../src/accounts/store.ts";
import { problem, QUOTA_EXCEEDED } from "../../src/problems.ts";
import { authenticate, bearer, CAP, newAuthenticator, newEpoch, useAccounts, problemOf } from "./support.ts";

const [ATTACKER, ELSEWHERE] = ["192.0.2.66", "198.51.100.1"];
const FAILURES = 20;

/** More well-formed keys that do not exist than may wait to be checked. */
const FLOOD: readonly string[] = Array.from({ length: 5_100 }, () => makeKey(randomBytes));

/** Authenticates with a well-formed key that does not exist. */
function guess(authenticator: Authenticator, address = ATTACKER): Promise<Caller> {
  return authenticate(authenticator, bearer(makeKey(randomBytes), address));
}

describe("GuessLimiter", () => {
  const accounts = useAccounts();
  const epoch = newEpoch();

  function guarded(options?: Omit<GuardOptions, "store">): Authenticator {
    return newAuthenticator(accounts, { guard: new GuessLimiter({ store: accounts.store, ...options }), epoch });
  }

  async function newKeys(count: number): Promise<string[]> {
    const { id } = await accounts.service.createAccount({ name: "Acme" });
    const keys = Array.from({ length: count }, () => accounts.service.createKey({ accountId: id, name: "ats" }));
    return (await Promise.all(keys)).map(({ key }) => key);
  }

  /** Uses up all failures of the attacker's address. */
  async function closeAddress(authenticator: Authenticator): Promise<void> {
    for (let failure = 0; failure < FAILURES; failure++) await problemOf(guess(authenticator), "api_key_invalid");
  }

  it("closes an address after 20 failures: 429 with scope address and Retry-After, and one look-up more at most", async () => {
    const authenticator = guarded();
    await closeAddress(authenticator);
    const before = accounts.finds();
    const { message, extras } = await problemOf(guess(authenticator), "rate_limited");
    expect(message).to.equal(
      "Too many requests with wrong API keys came from this address. Check your key, and try again shortly.",
    );
    const { retry_after, ...members } = extras.members ?? {};
    expect(members).to.deep.equal({
      type: QUOTA_EXCEEDED,
      "violated-policies": ["address-failures"],
      scope: "address",
      limit: FAILURES,
    });
    expect(retry_after).to.be.within(1, 60);
    expect(extras.headers).to.deep.equal({ "Retry-After": String(retry_after) });
    expect(accounts.finds() - before).to.equal(1);
  });

  it("looks 20 of 5,000 concurrent wrong keys up one by one, and all others in few batches", async () => {
    const authenticator = guarded();
    const before = accounts.finds();
    const flood = FLOOD.slice(0, 5_000).map((key) => authenticate(authenticator, bearer(key, ATTACKER)));
    const outcomes = await Promise.allSettled(flood);
    const codes = outcomes.map((outcome) => outcome.status === "rejected" && (outcome.reason as { code: string }).code);
    expect(codes.filter((code) => code === "api_key_invalid")).to.have.length(FAILURES);
    expect(codes.filter((code) => code === "rate_limited")).to.have.length(5_000 - FAILURES);
    expect(accounts.finds() - before).to.be.at.most(FAILURES + 5); // a batch holds 1,000
  });

  it("lets at most 5,000 keys wait and refuses the next at once, but looks up a key that it has seen before", async () => {
    const authenticator = guarded();
    const [known = "", unknown = ""] = await newKeys(2);
    await authenticate(authenticator, bearer(known, ATTACKER));
    epoch.connections++;
    await closeAddress(authenticator);
    const before = accounts.finds();
    const flood = FLOOD.map((key) => problemOf(authenticate(authenticator, bearer(key, ATTACKER)), "rate_limited"));
    await problemOf(authenticate(authenticator, bearer(unknown, ATTACKER)), "rate_limited");
    await authenticate(authenticator, bearer(known, ATTACKER));
    const outcomes = await Promise.all(flood);
    const busy = outcomes.filter(({ extras }) => extras.headers?.["Retry-After"] === "1");
    expect(busy).to.have.length(100);
    expect(new Set(busy.map(({ message }) => message))).to.deep.equal(
      new Set(["Too many API keys wait to be checked. Send the request again in a second."]),
    );
    expect(busy[0]?.extras.members).to.deep.equal({
      type: QUOTA_EXCEEDED,
      "violated-policies": ["address-failures"],
      scope: "address",
      limit: FAILURES,
      retry_after: 1,
    });
    expect(accounts.finds() - before).to.be.at.most(8);
  });

  it("still accepts valid keys, from other addresses and from the closed one, used before or not", async () => {
    const authenticator = guarded();
    const [known = "", unknown = ""] = await newKeys(2);
    await authenticate(authenticator, bearer(known, ATTACKER));
    await closeAddress(authenticator);
    await authenticate(authenticator, bearer(known, ATTACKER));
    epoch.connections++;
    await authenticate(authenticator, bearer(known, ATTACKER));
    await authenticate(authenticator, bearer(unknown, ATTACKER));
    await authenticate(authenticator, bearer(unknown, ELSEWHERE));
  });

  it("does not count an existing key as a guess, even if it may not be used", async () => {
    const authenticator = guarded();
    for (let suspended = 0; suspended <= FAILURES; suspended += CAP) {
      const { id } = await accounts.service.createAccount({ name: "Acme" });
      const created = Array.from({ length: CAP }, () => accounts.service.createKey({ accountId: id, name: "ats" }));
      const keys = await Promise.all(created);
      await accounts.service.setStatus(id, "suspended");
      for (const { key } of keys)
        await problemOf(authenticate(authenticator, bearer(key, ATTACKER)), "account_suspended");
    }
    await problemOf(guess(authenticator), "api_key_invalid");
  });

  it("says what is wrong with each of a few wrong keys among a burst of valid ones", async () => {
    const keys = (await Promise.all(Array.from({ length: 10 }, () => newKeys(CAP)))).flat();
    const authenticator = guarded();
    const good = keys.map((key) => authenticate(authenticator, bearer(key, ATTACKER)));
    const wrong = Array.from({ length: 3 }, () => problemOf(guess(authenticator), "api_key_invalid"));
    await Promise.all([...good, ...wrong]);
  });

  it("judges a wrong key only when the look-ups of the burst have ended, whether they find their keys or not", async () => {
    for (const areValid of [true, false]) {
      const keys = areValid ? (await Promise.all([newKeys(CAP), newKeys(CAP)])).flat() : [];
      while (keys.length < FAILURES) keys.push(makeKey(randomBytes));
      let answered = () => {};
      const slow = new Promise<void>((resolve) => (answered = resolve));
      const { store } = accounts;
      const authenticator = newAuthenticator(accounts, {
        store: { findBySecret: async (hash) => slow.then(() => store.findBySecret(hash)) } as AccountStore,
        guard: new GuessLimiter({
          store: {
            async existingSecrets(hashes) {
              const existing = await store.existingSecrets(hashes);
              // By then the guard has counted the wrong key.
              void setImmediate()
                .then(() => setImmediate())
                .then(answered);
              return existing;
            },
          },
        }),
      });
      const burst = keys.map((key) => authenticate(authenticator, bearer(key, ATTACKER)));
      const wrong = problemOf(guess(authenticator), areValid ? "api_key_invalid" : "rate_limited");
      await Promise.allSettled(burst);
      await wrong;
    }
  });

  it("does not count a missing or mistyped key, because it costs no look-up", async () => {
    const authenticator = guarded();
    for (let request = 0; request < 2 * FAILURES; request++) {
      await problemOf(authenticate(authenticator, bearer("", ATTACKER)), "api_key_missing");
      await problemOf(authenticate(authenticator, bearer("cos_live_mistyped", ATTACKER)), "api_key_invalid");
    }
    await problemOf(guess(authenticator), "api_key_invalid");
  });

  it("opens an address again after Retry-After", async () => {
    const authenticator = guarded({ failures: 1, windowSeconds: 1 });
    await problemOf(guess(authenticator), "api_key_invalid");
    const { extras } = await problemOf(guess(authenticator), "rate_limited");
    await delay(Number(extras.headers?.["Retry-After"]) * 1000);
    await problemOf(guess(authenticator), "api_key_invalid");
  });

  it("opens an address again at the very end of the window", async () => {
    let now = Math.ceil(performance.now());
    const clock = mock.method(performance, "now", () => now);
    /** Moves the clock. LRUCache reads it at most once a millisecond. */
    const pass = (ms: number) => ((now += ms), delay(5));
    try {
      let asked = 0;
      const existingSecrets = async () => (asked++, new Set<string>());
      const guard = new GuessLimiter({ store: { existingSecrets }, failures: 1 });
      const attempt = () =>
        guard.attempt({ address: ATTACKER, hash: "guess" }, () =>
          Promise.reject(problem("api_key_invalid", "Unknown.")),
        );
      await problemOf(attempt(), "api_key_invalid");
      await pass(59_999);
      await problemOf(attempt(), "rate_limited");
      await pass(1);
      await problemOf(attempt(), "api_key_invalid");
      expect(asked, "while it was closed").to.equal(1);
    } finally {
      clock.mock.restore();
    }
  });

  it("returns api_key_invalid to as many wrong keys of a burst as may fail, and rate_limited to the next", async () => {
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const existingSecrets = () => finished.then(() => new Set<string>());
    const guard = new GuessLimiter({ store: { existingSecrets }, failures: 2 });
    const unknown = () => Promise.reject(problem("api_key_invalid", "Unknown."));
    const good = ["good 1", "good 2"].map((hash) => guard.attempt({ address: ATTACKER, hash }, () => finished));
    const wrong = ["a", "b", "c"].map((hash) => guard.attempt({ address: ATTACKER, hash }, unknown));
    finish();
    await Promise.all(good);
    const codes = (await Promise.allSettled(wrong)).map((end) => end.status === "rejected" && end.reason.code);
    expect(codes).to.deep.equal(["api_key_invalid", "api_key_invalid", "rate_limited"]);
  });

  it("remembers at most the configured number of addresses", async () => {
    const authenticator = guarded({ failures: 1, addresses: 2 });
    for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3"])
      await problemOf(guess(authenticator, address), "api_key_invalid");
    await problemOf(guess(authenticator, "192.0.2.3"), "rate_limited");
    await problemOf(guess(authenticator, "192.0.2.1"), "api_key_invalid");
  });
});
