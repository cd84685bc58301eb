import { mock } from "node:test";
import { expect } from "chai";
import {
  type AccountRecord,
  activeKeys,
  findKey,
  type KeyRecord,
  newAccount,
  type SecretRecord,
  withKey,
  withKeyRevoked,
  withKeyRotated,
  withStatus,
} from "../../src/accounts/account.ts";
import { AccountStore } from "../../src/accounts/store.ts";
import { Problem } from "../../src/problems.ts";
import { problemOf, useAccounts } from "./support.ts";

const NOW = "2026-11-21T10:00:00.000Z";
const LATER = "2026-11-21T11:00:00.000Z";

const secret = (hash: string, expires_at: string | null = null, created_at = NOW): SecretRecord => ({
  hash,
  created_at,
  expires_at,
});
const key = (id: string, more: Partial<KeyRecord> = {}): KeyRecord => ({
  id,
  name: id,
  secrets: [secret(`${id} first`)],
  created_at: NOW,
  revoked_at: null,
  ...more,
});
const accountWith = (...keys: KeyRecord[]): AccountRecord => ({ ...newAccount("acct_1", "Acme", NOW), keys });

/** Returns the code and the text of the problem that `work` throws. */
function refusedBy(work: () => unknown): string {
  try {
    return `nothing, but returned ${JSON.stringify(work())}`;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return `${error.code}: ${error.message}`;
  }
}

describe("the record of an account", () => {
  it("begins active, at version 1, without keys", () => {
    expect(newAccount("acct_1", "Acme", NOW)).to.deep.equal({
      _id: "acct_1",
      name: "Acme",
      status: "active",
      version: 1,
      created_at: NOW,
      updated_at: NOW,
      keys: [],
    });
  });

  it("takes keys up to the cap, which revoked ones do not count towards", () => {
    const account = accountWith(key("key_1", { revoked_at: NOW }), key("key_2"));
    expect(activeKeys(account)).to.deep.equal([key("key_2")]);
    expect(withKey(account, key("key_3"), 2)).to.deep.equal({
      ...account,
      keys: [...account.keys, key("key_3")],
    });
    expect(refusedBy(() => withKey(account, key("key_3"), 1))).to.equal(
      "active_key_cap_reached: The account has reached its maximum of 1 active keys. Revoke one first.",
    );
  });

  it("shows one key revoked, and is the same object if it already was", () => {
    const account = accountWith(key("key_1"), key("key_2"));
    const revoked = withKeyRevoked(account, "key_1", LATER);
    expect(revoked).to.deep.equal(accountWith(key("key_1", { revoked_at: LATER }), key("key_2")));
    expect(withKeyRevoked(revoked, "key_1", "2026-11-21T12:00:00.000Z")).to.equal(revoked);
  });

  it("keeps the 100 keys that were revoked last, and every active one", () => {
    const revokedAt = (index: number) => new Date(Date.parse(NOW) + index * 1000).toISOString();
    const old = Array.from({ length: 100 }, (_, index) => key(`key_${index}`, { revoked_at: revokedAt(index) }));
    const active = [key("key_a"), key("key_b")];
    // The order of the keys is that of their creation. It says nothing about when they were revoked.
    const { keys } = withKeyRevoked(accountWith(...active, ...old.toReversed()), "key_a", LATER);
    expect(keys.map(({ id }) => id)).to.deep.equal([
      "key_a",
      "key_b",
      ...old
        .slice(1)
        .toReversed()
        .map(({ id }) => id),
    ]);
    const full = withKeyRevoked(accountWith(...active, ...old.slice(1)), "key_a", LATER);
    expect(full.keys, "100 revoked and 1 active").to.have.length(101);
  });

  it("ends the older secrets of a rotated key with the grace, or sooner, and no other key's", () => {
    const soon = "2026-11-21T10:30:00.000Z";
    const graceEnds = LATER;
    const secrets = [
      secret("over", "2026-11-21T09:00:00.000Z"),
      secret("soon", soon),
      secret("late", "2026-11-22T00:00:00.000Z"),
      secret("current"),
    ];
    const rotated = withKeyRotated(
      accountWith(key("key_1", { secrets }), key("key_2")),
      "key_1",
      secret("new"),
      graceEnds,
    );
    expect(rotated).to.deep.equal(
      accountWith(
        key("key_1", {
          secrets: [secret("soon", soon), secret("late", graceEnds), secret("current", graceEnds), secret("new")],
        }),
        key("key_2"),
      ),
    );
  });

  it("refuses to rotate a revoked key, and to change a key that it does not have", () => {
    const account = accountWith(key("key_1", { revoked_at: NOW }));
    expect(refusedBy(() => withKeyRotated(account, "key_1", secret("new"), LATER))).to.equal(
      "invalid_transition: The key key_1 is revoked and cannot be rotated. Create a new key.",
    );
    for (const change of [
      () => findKey(account, "key_2"),
      () => withKeyRevoked(account, "key_2", LATER),
      () => withKeyRotated(account, "key_2", secret("new"), LATER),
    ])
      expect(refusedBy(change)).to.equal("not_found: No key has the id key_2.");
    expect(findKey(accountWith(key("key_1"), key("key_2")), "key_2")).to.deep.equal(key("key_2"));
  });

  it("is the same object if it already has the status", () => {
    const account = accountWith(key("key_1"));
    expect(withStatus(account, "active")).to.equal(account);
    expect(withStatus(account, "suspended")).to.deep.equal({ ...account, status: "suspended" });
  });

  describe("in the store", () => {
    const accounts = useAccounts();
    before(() => void mock.method(Math, "random", () => 0)); // no waits
    after(() => mock.restoreAll());

    it("is not changed over a version that was not read, and is named if every race is lost", async () => {
      const { id } = await accounts.service.createAccount({ name: "Acme" });
      const stored = await accounts.store.get(id);
      const stale = new AccountStore(accounts.mongo);
      let reads = 0;
      stale.get = async () => {
        reads++;
        return { ...stored, version: 0 };
      };
      const change = stale.change(id, LATER, (account) => withStatus(account, "suspended"));
      const { message, extras } = await problemOf(change, "store_unavailable");
      expect(message).to.equal("Too many changes to this account at once. Retry in a second.");
      expect(extras.headers).to.deep.equal({ "Retry-After": "1" });
      expect(reads).to.equal(50);
      expect(await accounts.store.get(id)).to.deep.equal(stored);
    });

    it("counts its changes, and says when the last one was", async () => {
      const { id } = await accounts.service.createAccount({ name: "Acme" });
      const stored = await accounts.store.get(id);
      const changed = await accounts.store.change(id, LATER, (account) => withStatus(account, "suspended"));
      expect(changed).to.deep.equal({ ...stored, status: "suspended", version: 2, updated_at: LATER });
      expect(await accounts.store.get(id)).to.deep.equal(changed);
    });
  });
});
