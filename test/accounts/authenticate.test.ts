import { randomBytes } from "node:crypto";
import { expect } from "chai";
import type { Authenticator } from "../../src/accounts/authenticate.ts";
import { hashKey, makeKey } from "../../src/accounts/key.ts";
import type { NewKeyView } from "../../src/accounts/view.ts";
import { authenticate, bearer, newAuthenticator, useAccounts, problemOf } from "./support.ts";

describe("Authenticator", () => {
  const accounts = useAccounts();
  let elapsedMs: number;
  let authenticator: Authenticator;
  beforeEach(() => {
    elapsedMs = 0;
    authenticator = newAuthenticator(accounts, { clock: { now: () => Date.now() + elapsedMs } });
  });

  const newKey = async (): Promise<NewKeyView> => {
    const { id } = await accounts.service.createAccount({ name: "Acme" });
    return accounts.service.createKey({ accountId: id, name: "ats" });
  };

  async function findsDuring(work: () => Promise<unknown>): Promise<number> {
    const before = accounts.finds();
    await work();
    return accounts.finds() - before;
  }

  it("returns the account and the key of a valid key", async () => {
    const { key, id, account_id } = await newKey();
    expect(await authenticate(authenticator, bearer(key))).to.include({ accountId: account_id, keyId: id });
  });

  it("refuses an unknown key with api_key_invalid after one look-up", async () => {
    const unknown = bearer(makeKey(randomBytes));
    expect(await findsDuring(() => problemOf(authenticate(authenticator, unknown), "api_key_invalid"))).to.equal(1);
  });

  it("refuses a key with one wrong character with api_key_invalid, without a look-up", async () => {
    const { key } = await newKey();
    const mistyped = key.slice(0, 12) + (key[12] === "a" ? "b" : "a") + key.slice(13);
    expect(
      await findsDuring(() => problemOf(authenticate(authenticator, bearer(mistyped)), "api_key_invalid")),
    ).to.equal(0);
  });

  it("refuses malformed keys with api_key_invalid and the error invalid_token, and does not repeat them", async () => {
    const [key, long] = [makeKey(randomBytes), "x".repeat(1_000_000)];
    const malformed = [key.slice(0, -1), `${key} ${key}`, `${key}x`, long, `${key}, ${key}`, `${key.slice(0, -1)}-`];
    for (const text of malformed) {
      const refused = await problemOf(authenticate(authenticator, bearer(text)), "api_key_invalid");
      expect(refused.message).to.equal(
        "The API key is malformed: it is cut off, mistyped or followed by other text. Copy the whole key again.",
      );
      expect(refused.extras.headers).to.deep.equal({
        "WWW-Authenticate": 'Bearer realm="candidate-onboarding", error="invalid_token"',
      });
      expect(JSON.stringify([refused.detail, refused.extras])).to.not.include(key.slice(9, 20));
    }
  });

  it("ignores a look-up entry whose secret is not in the account's record", async () => {
    const { id, account_id } = await newKey();
    const secret = makeKey(randomBytes);
    await accounts.store.addSecret(hashKey(secret), account_id, id);
    await problemOf(authenticate(authenticator, bearer(secret)), "api_key_invalid");
  });

  it("refuses a revoked key with api_key_revoked, and still accepts the account's other keys", async () => {
    const { key, id, account_id } = await newKey();
    const other = await accounts.service.createKey({ accountId: account_id, name: "other" });
    await accounts.service.revokeKey(id);
    const { message } = await problemOf(authenticate(authenticator, bearer(key)), "api_key_revoked");
    expect(message).to.equal("The API key was revoked. Use another key, or ask for a new one.");
    await authenticate(authenticator, bearer(other.key));
  });

  it("refuses a suspended account with account_suspended, and accepts it as soon as it is resumed", async () => {
    const { key, account_id } = await newKey();
    await accounts.service.setStatus(account_id, "suspended");
    const { status, message } = await problemOf(authenticate(authenticator, bearer(key)), "account_suspended");
    expect(status).to.equal(403);
    expect(message).to.equal("The account is suspended. Contact support to have it resumed.");
    await accounts.service.setStatus(account_id, "active");
    await authenticate(authenticator, bearer(key));
  });

  it("accepts both secrets of a rotated key during the grace period, then only the new one", async () => {
    const old = await newKey();
    const { key } = await accounts.service.rotateKey({ keyId: old.id, graceSeconds: 10 });
    const caller = await authenticate(authenticator, bearer(key));
    const { accountId, keyId } = caller;
    const withOld = () => authenticate(authenticator, bearer(old.key));
    expect(await withOld()).to.include({ accountId, keyId });
    expect(await findsDuring(withOld), "it is cached too").to.equal(0);
    elapsedMs = 10_000;
    const { message } = await problemOf(withOld(), "api_key_invalid");
    expect(message).to.equal("The API key was replaced by a new one and has expired. Use the new key.");
    expect(await authenticate(authenticator, bearer(key))).to.deep.equal(caller);
  });

  it("refuses a cached secret from the millisecond at which it expires", async () => {
    const old = await newKey();
    const { previous_secret_expires_at } = await accounts.service.rotateKey({ keyId: old.id, graceSeconds: 10 });
    let now = Date.parse(previous_secret_expires_at ?? "") - 1;
    const strict = newAuthenticator(accounts, { clock: { now: () => now } });
    await authenticate(strict, bearer(old.key));
    now++;
    await problemOf(authenticate(strict, bearer(old.key)), "api_key_invalid");
  });

  it("does not count a key found revoked, replaced or suspended as a guess, and looks up ended keys only once", async () => {
    const [revoked, rotated, suspended] = [await newKey(), await newKey(), await newKey()];
    await accounts.service.revokeKey(revoked.id);
    const { key: renewed } = await accounts.service.rotateKey({ keyId: rotated.id, graceSeconds: 0 });
    await accounts.service.setStatus(suspended.account_id, "suspended");
    for (const { key } of [revoked, rotated, suspended])
      await authenticate(authenticator, bearer(key)).catch(() => undefined);
    const ended = async () => {
      await problemOf(authenticate(authenticator, bearer(revoked.key)), "api_key_revoked");
      await problemOf(authenticate(authenticator, bearer(rotated.key)), "api_key_invalid");
    };
    expect(await findsDuring(ended)).to.equal(0);
    for (let request = 0; request < 30; request++) {
      await ended();
      await problemOf(authenticate(authenticator, bearer(suspended.key)), "account_suspended");
    }
    await authenticate(authenticator, bearer(renewed));
    await accounts.service.setStatus(suspended.account_id, "active");
    await authenticate(authenticator, bearer(suspended.key));
  });

  it("shares one look-up between a hundred concurrent requests with the same uncached key", async () => {
    const { key } = await newKey();
    const all = () => Promise.all(Array.from({ length: 100 }, () => authenticate(authenticator, bearer(key))));
    expect(await findsDuring(all)).to.equal(2);
  });
});
