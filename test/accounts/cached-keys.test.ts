import { randomBytes } from "node:crypto";
import { mock } from "node:test";
import { expect } from "chai";
import { makeKey } from "../../src/accounts/key.ts";
import type { AccountStore } from "../../src/accounts/store.ts";
import type { NewKeyView } from "../../src/accounts/view.ts";
import { authenticate, bearer, newAuthenticator, newEpoch, problemOf, useAccounts } from "./support.ts";

const YEAR_MS = 365 * 86_400_000;

type FindBySecret = AccountStore["findBySecret"];

describe("the keys that a replica caches", () => {
  const accounts = useAccounts();
  let key: NewKeyView;
  let lookups: ReturnType<typeof mock.method<AccountStore, "findBySecret">>;
  beforeEach(async () => {
    const { id } = await accounts.service.createAccount({ name: "Acme" });
    key = await accounts.service.createKey({ accountId: id, name: "ats" });
    lookups = mock.method(accounts.store, "findBySecret");
  });
  afterEach(() => lookups.mock.restore());

  const credentials = () => bearer(key.key);
  /** Returns how many look-ups a step took. */
  const during = async (step: () => unknown): Promise<number> => {
    const before = lookups.mock.callCount();
    await step();
    return lookups.mock.callCount() - before;
  };
  /** Does something after each look-up has read the store, before its result is used. */
  const afterEachRead = (act: () => unknown) => {
    const find = accounts.store.findBySecret.bind(accounts.store);
    lookups.mock.restore();
    lookups = mock.method(accounts.store, "findBySecret", async (...given: Parameters<FindBySecret>) => {
      const found = await find(...given);
      await act();
      return found;
    });
  };

  it("are not looked up again, however much time passes, until Redis is connected again", async () => {
    let elapsedMs = 0;
    const epoch = newEpoch();
    const clock = { now: () => Date.now() + elapsedMs };
    const authenticator = newAuthenticator(accounts, { epoch, clock });
    const again = () => authenticate(authenticator, credentials());
    expect(await during(again)).to.equal(1);
    elapsedMs = YEAR_MS;
    expect(await during(again)).to.equal(0);
    epoch.connections++;
    expect(await during(again)).to.equal(1);
    expect(await during(again)).to.equal(0);
  });

  it("are looked up again if another master serves their account, and not if it serves another account", async () => {
    const masters = new Map<string, string>();
    const epoch = { connections: 1, of: (accountId: string) => masters.get(accountId) ?? "the first" };
    const authenticator = newAuthenticator(accounts, { epoch });
    const again = () => authenticate(authenticator, credentials());
    await again();
    masters.set("acct_other", "the second");
    expect(await during(again)).to.equal(0);
    masters.set(key.account_id, "the second");
    expect(await during(again)).to.equal(1);
  });

  it("are looked up once more if Redis was connected again meanwhile: it may have lost a change", async () => {
    const epoch = newEpoch();
    const authenticator = newAuthenticator(accounts, { epoch });
    afterEachRead(async () => {
      if (epoch.connections > 1) return;
      await accounts.service.revokeKey(key.id);
      epoch.connections++;
    });
    await problemOf(authenticate(authenticator, credentials()), "api_key_revoked");
  });

  it("are looked up once more if another master took the account over while Redis was told the version", async () => {
    let master = "the first";
    const lookedUp: typeof accounts.versions.lookedUp = (...of) => {
      master = "the second";
      return accounts.versions.lookedUp(...of);
    };
    const authenticator = newAuthenticator(accounts, {
      versions: { lookedUp },
      epoch: { connections: 1, of: () => master },
    });
    expect(await during(() => authenticate(authenticator, credentials()))).to.equal(2);
    expect(await during(() => authenticate(authenticator, credentials()))).to.equal(0);
  });

  it("are looked up three times at most for one request, and the last result is used only once", async () => {
    const epoch = newEpoch();
    const authenticator = newAuthenticator(accounts, { epoch });
    afterEachRead(() => epoch.connections++);
    for (let request = 0; request < 2; request++) {
      const step = async () => expect(await authenticate(authenticator, credentials())).to.include({ keyId: key.id });
      expect(await during(step)).to.equal(3);
    }
  });

  for (const [what, lookedUp] of [
    ["does not take the version in", () => Promise.resolve(false)],
    ["does not answer", () => Promise.reject(new Error("gone"))],
  ] as const)
    it(`are used only once if Redis ${what}`, async () => {
      const authenticator = newAuthenticator(accounts, { versions: { lookedUp } });
      for (let request = 0; request < 2; request++) {
        const step = async () => expect(await authenticate(authenticator, credentials())).to.include({ keyId: key.id });
        expect(await during(step)).to.equal(1);
      }
    });

  it("have the version that Redis is told, as of when the look-up began, by Redis's clock", async () => {
    let now = 1_000;
    const told: unknown[] = [];
    const authenticator = newAuthenticator(accounts, {
      clock: { now: () => now },
      timeoutMs: 123,
      versions: { lookedUp: (...of) => Promise.resolve(told.push(of) > 0) },
    });
    afterEachRead(() => (now = 2_000));
    const { accountVersion } = await authenticate(authenticator, credentials());
    expect(accountVersion).to.equal((await accounts.store.get(key.account_id)).version);
    expect(told).to.deep.equal([[key.account_id, { version: accountVersion, begunMs: 1_000, timeoutMs: 123 }]]);
  });

  it("are forgotten if their version is outdated, and not if they were looked up since", async () => {
    const authenticator = newAuthenticator(accounts);
    const again = () => authenticate(authenticator, credentials());
    const { accountVersion } = await again();
    authenticator.forget(credentials(), accountVersion - 1);
    authenticator.forget(bearer(makeKey(randomBytes)), accountVersion);
    authenticator.forget({ ...credentials(), authorization: undefined }, accountVersion);
    expect(await during(again)).to.equal(0);
    authenticator.forget(credentials(), accountVersion);
    expect(await during(again)).to.equal(1);
    expect(await during(again)).to.equal(0);
  });

  it("are not those of a suspended account: each request looks them up", async () => {
    const authenticator = newAuthenticator(accounts);
    await accounts.service.setStatus(key.account_id, "suspended");
    for (let request = 0; request < 2; request++) {
      const step = () => problemOf(authenticate(authenticator, credentials()), "account_suspended");
      expect(await during(step)).to.equal(1);
    }
  });
});
