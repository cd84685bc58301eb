import { mock } from "node:test";
import { expect } from "chai";
import type { AccountStore } from "../../src/accounts/store.ts";
import type { AccountView } from "../../src/accounts/view.ts";
import { problem, type ProblemCode } from "../../src/problems.ts";
import { CAP, useAccounts, problemOf } from "./support.ts";

describe("AccountService", () => {
  const accounts = useAccounts();

  const listed = async (): Promise<AccountView[]> => (await accounts.service.listAccounts()).data;
  const newAccount = async (): Promise<string> => (await accounts.service.createAccount({ name: "Acme" })).id;

  it("creates an account, and lists it after the older ones", async () => {
    const first = await accounts.service.createAccount({ name: "Acme" });
    const second = await accounts.service.createAccount({ name: "Ωmega 招聘" });
    expect(first).to.include({ object: "account", name: "Acme", status: "active", active_keys: 0 });
    expect(first.id).to.match(/^acct_[0-9a-z]{26}$/);
    expect((await listed()).slice(-2)).to.deep.equal([first, second]);
  });

  it("lists any number of accounts, 100 for each round trip, each of them once and oldest first", async () => {
    await accounts.mongo.db.collection("accounts").deleteMany({});
    const names = Array.from({ length: 200 }, (_, index) => `account ${index}`);
    for (const name of names) await accounts.service.createAccount({ name });
    const before = accounts.finds();
    expect((await listed()).map(({ name }) => name)).to.deep.equal(names);
    expect(accounts.finds() - before, "round trips for all").to.equal(3);
  });

  it("creates a key, and lists it without its secret", async () => {
    const accountId = await newAccount();
    const { key: secret, ...key } = await accounts.service.createKey({ accountId, name: "ats" });
    expect(key).to.include({
      object: "api_key",
      account_id: accountId,
      name: "ats",
      status: "active",
      revoked_at: null,
    });
    expect(secret).to.match(/^cos_live_/);
    expect((await accounts.service.listKeys(accountId)).data).to.deep.equal([key]);
  });

  it("creates exactly as many of 50 concurrent keys as the cap allows, and leaves no look-up entry of the others", async () => {
    const accountId = await newAccount();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) => accounts.service.createKey({ accountId, name: `key ${index}` })),
    );
    const refused = outcomes
      .filter((outcome) => outcome.status === "rejected")
      .map(({ reason }) => (reason as { code: ProblemCode }).code);
    expect(refused).to.deep.equal(Array.from({ length: 50 - CAP }, () => "active_key_cap_reached"));
    const { data } = await accounts.service.listKeys(accountId);
    expect(data.map(({ id }) => id).toSorted()).to.deep.equal(
      outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? outcome.value.id : [])).toSorted(),
    );
    for (const collection of ["secrets", "keys"]) {
      expect(await accounts.mongo.db.collection(collection).find({ account: accountId }).toArray()).to.have.length(CAP);
    }
  });

  it("creates another key after one is revoked at the cap", async () => {
    const accountId = await newAccount();
    for (let index = 0; index < CAP; index++) await accounts.service.createKey({ accountId, name: "key" });
    await problemOf(accounts.service.createKey({ accountId, name: "one more" }), "active_key_cap_reached");
    const [first] = (await accounts.service.listKeys(accountId)).data;
    expect(await accounts.service.revokeKey(first?.id ?? "")).to.include({ status: "revoked" });
    await accounts.service.createKey({ accountId, name: "one more" });
    expect((await listed()).find(({ id }) => id === accountId)?.active_keys).to.equal(CAP);
  });

  it("keeps the look-up entries of a key if the response to the change of its account is lost", async () => {
    const accountId = await newAccount();
    const change = accounts.store.change.bind(accounts.store);
    const changed = mock.method(accounts.store, "change", async (...of: Parameters<AccountStore["change"]>) => {
      await change(...of);
      throw problem("store_unavailable", "The connection broke.");
    });
    await problemOf(accounts.service.createKey({ accountId, name: "ats" }), "store_unavailable");
    changed.mock.restore();
    const [key] = (await accounts.service.listKeys(accountId)).data;
    expect(await accounts.store.accountOfKey(key?.id ?? "")).to.equal(accountId);
    const secrets = accounts.mongo.db.collection("secrets").find({ account: accountId });
    expect(await secrets.toArray()).to.have.length(1);
  });

  it("returns when a key was last used, also as it is rotated and revoked", async () => {
    const { id, account_id } = await accounts.service.createKey({ accountId: await newAccount(), name: "ats" });
    const last_used_at = "2026-11-21T10:00:00.000Z";
    await accounts.store.setLastUsed(new Map([[id, last_used_at]]));
    expect((await accounts.service.listKeys(account_id)).data[0]).to.include({ id, last_used_at });
    expect(await accounts.service.rotateKey({ keyId: id, graceSeconds: 60 })).to.include({ id, last_used_at });
    expect(await accounts.service.revokeKey(id)).to.include({ id, last_used_at });
  });

  it("keeps the id of a rotated key, and sets an expiry for the old secret", async () => {
    const accountId = await newAccount();
    const created = await accounts.service.createKey({ accountId, name: "ats" });
    const rotated = await accounts.service.rotateKey({ keyId: created.id, graceSeconds: 3600 });
    expect(rotated.key).to.not.equal(created.key);
    const { key: secret, prefix, secret_created_at, previous_secret_expires_at, ...same } = rotated;
    const { key: _old, prefix: _prefix, secret_created_at: _at, previous_secret_expires_at: none, ...before } = created;
    expect(same, "and no warning").to.deep.equal(before);
    expect(prefix).to.equal(secret.slice(0, 12));
    expect(none).to.equal(null);
    const graceMs = Date.parse(previous_secret_expires_at ?? "") - Date.parse(secret_created_at ?? "");
    expect(graceMs).to.equal(3_600_000);
  });

  it("writes nothing if an account already has the status", async () => {
    const accountId = await newAccount();
    await accounts.service.setStatus(accountId, "suspended");
    const before = await accounts.store.get(accountId);
    await accounts.service.setStatus(accountId, "suspended");
    expect(await accounts.store.get(accountId)).to.deep.equal(before);
  });

  it("writes nothing, no look-up entry and nothing to the audit, for a key that cannot be created or rotated", async () => {
    const accountId = await newAccount();
    const keys: string[] = [];
    for (let n = 0; n < CAP; n++) keys.push((await accounts.service.createKey({ accountId, name: "key" })).id);
    const stored = async () => {
      const { db } = accounts.mongo;
      const names = (await db.listCollections().toArray()).map(({ name }) => name).toSorted();
      return Promise.all(names.map(async (name) => [name, await db.collection(name).countDocuments({})]));
    };
    const before = await stored();
    expect(before).to.have.length.above(3);
    await problemOf(accounts.service.createKey({ accountId, name: "one more" }), "active_key_cap_reached");
    expect(await stored()).to.deep.equal(before);
    await accounts.service.revokeKey(keys[0]!);
    const revoked = await stored();
    await problemOf(accounts.service.rotateKey({ keyId: keys[0]!, graceSeconds: 60 }), "invalid_transition");
    expect(await stored()).to.deep.equal(revoked);
  });

  it("returns not_found for an id that does not exist, well-formed or not", async () => {
    const { service } = accounts;
    for (const id of [
      "",
      "acct_",
      "acct_01h2xcejqtf2nbrexx3vqjhp41",
      "key_01h2xcejqtf2nbrexx3vqjhp41",
      "x".repeat(10_000),
    ]) {
      await problemOf(service.createKey({ accountId: id, name: "ats" }), "not_found");
      const { message } = await problemOf(service.listKeys(id), "not_found");
      expect(message).to.equal(`No account has the id ${id}.`);
      await problemOf(service.setStatus(id, "suspended"), "not_found");
      const { message: ofKey } = await problemOf(service.revokeKey(id), "not_found");
      expect(ofKey).to.equal(`No key has the id ${id}.`);
      await problemOf(service.rotateKey({ keyId: id, graceSeconds: 60 }), "not_found");
    }
  });

  it("refuses a name that is not 1 to 200 characters long, and a grace period that is not a whole number of seconds", async () => {
    const accountId = await newAccount();
    for (const name of ["", "  ", "x".repeat(201)]) {
      await problemOf(accounts.service.createAccount({ name }), "validation_failed");
      await problemOf(accounts.service.createKey({ accountId, name }), "validation_failed");
    }
    const { id } = await accounts.service.createKey({ accountId, name: "😀".repeat(200) });
    for (const graceSeconds of [-1, 0.5, NaN, Infinity, 1e9]) {
      await problemOf(accounts.service.rotateKey({ keyId: id, graceSeconds }), "validation_failed");
    }
  });
});
