import { mock } from "node:test";
import { expect } from "chai";
import { GuessLimiter } from "../../src/accounts/guess-limiter.ts";
import type { AccountRecord } from "../../src/accounts/account.ts";
import type { Credentials } from "../../src/accounts/key.ts";
import type { Authenticator } from "../../src/accounts/authenticate.ts";
import { problem, type ProblemCode } from "../../src/problems.ts";
import { authenticate, bearer, newAuthenticator, problemOf, useAccounts } from "./support.ts";

describe("a key that was found once, and that is looked up again", () => {
  const accounts = useAccounts();
  let accountId: string;
  let credentials: Credentials;
  let authenticator: Authenticator;
  let attempts: () => number;
  beforeEach(async () => {
    const { id } = await accounts.service.createAccount({ name: "Acme" });
    accountId = id;
    credentials = bearer((await accounts.service.createKey({ accountId: id, name: "ats" })).key);
    const guard = new GuessLimiter({ store: accounts.store });
    const guarded = mock.method(guard, "attempt");
    attempts = () => guarded.mock.callCount();
    authenticator = newAuthenticator(accounts, { guard });
    const { accountVersion } = await authenticate(authenticator, credentials);
    authenticator.forget(credentials, accountVersion);
    expect(attempts()).to.equal(1);
  });

  /** Sends a request for which the store returns this. */
  async function refused(response: () => Promise<AccountRecord | null>, code: ProblemCode): Promise<void> {
    const find = mock.method(accounts.store, "findBySecret", response);
    await problemOf(authenticate(authenticator, credentials), code);
    find.mock.restore();
  }

  it("is still not taken for a guess after the store failed to respond", async () => {
    await refused(
      () => Promise.reject(problem("store_unavailable", "The store does not answer.")),
      "store_unavailable",
    );
    await authenticate(authenticator, credentials);
    expect(attempts()).to.equal(1);
  });

  it("is not taken for a guess while its account is suspended", async () => {
    await accounts.service.setStatus(accountId, "suspended");
    const guard = new GuessLimiter({ store: accounts.store });
    const guarded = mock.method(guard, "attempt");
    const other = newAuthenticator(accounts, { guard });
    for (let request = 0; request < 2; request++)
      await problemOf(authenticate(other, credentials), "account_suspended");
    expect(guarded.mock.callCount(), "only the first request").to.equal(1);
  });

  it("may be a guess once no account has it any more", async () => {
    await refused(() => Promise.resolve(null), "api_key_invalid");
    expect(attempts()).to.equal(1);
    await authenticate(authenticator, credentials);
    expect(attempts()).to.equal(2);
  });
});
