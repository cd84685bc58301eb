import { BoundedCollection } from "../infra/bounded-collection.ts";
import { compareAndSet } from "../infra/compare-and-set.ts";
import { looksLikeId } from "../infra/ids.ts";
import { type Mongo } from "../infra/mongo.ts";
import { problem } from "../problems.ts";
import type { AccountRecord } from "./account.ts";

/** A lookup entry from the hash of a secret to its account and key. It is written before the secret is in the account. */
type SecretEntry = { _id: string; account: string; key: string };

/** A lookup entry from the id of a key to its account. It is written before the key is in the account. */
type KeyEntry = { _id: string; account: string; last_used_at: string | null };

/** Number of accounts that `list` reads at once. An account is about 1 kB; with all the keys it may keep, a few 100 kB. */
const LIST_PAGE = 100;
/** Number of uses that `lastUsed` reads at once. */
const USES_AT_ONCE = 1_000;

/**
 * The accounts in MongoDB, one document each. A change replaces the whole document if its version is still the one read.
 * Every method may throw problem `store_unavailable`, and takes one round trip unless it says otherwise.
 */
export class AccountStore {
  readonly #mongo: Mongo;
  readonly #accounts: BoundedCollection<AccountRecord>;
  readonly #secrets: BoundedCollection<SecretEntry>;
  readonly #keys: BoundedCollection<KeyEntry>;

  constructor(mongo: Mongo) {
    this.#mongo = mongo;
    this.#accounts = new BoundedCollection(mongo, "accounts");
    this.#secrets = new BoundedCollection(mongo, "secrets");
    this.#keys = new BoundedCollection(mongo, "keys");
  }

  async insert(account: AccountRecord): Promise<void> {
    await this.#accounts.insertOne(account);
  }

  /** Yields every account, oldest first. One created during the listing may be left out. One round trip for every 100. */
  async *list(): AsyncGenerator<AccountRecord, void> {
    let page: AccountRecord[] = [];
    do {
      const last = page.at(-1)?._id ?? "";
      page = await this.#accounts.find({ _id: { $gt: last } }, { sort: { _id: 1 }, limit: LIST_PAGE });
      yield* page;
    } while (page.length === LIST_PAGE);
  }

  /** @throws problem `not_found`, also for an erased account unless `evenErased` */
  async get(accountId: string, { evenErased = false } = {}): Promise<AccountRecord> {
    const account = looksLikeId("acct", accountId) ? await this.#accounts.findOne({ _id: accountId }) : null;
    if (account === null) throw problem("not_found", `No account has the id ${accountId}.`);
    const detail = `The account ${accountId} was erased at ${account.updated_at}. Only its audit is left.`;
    if (account.status === "erased" && !evenErased) throw problem("not_found", detail);
    return account;
  }

  async has(accountId: string): Promise<boolean> {
    return (await this.#accounts.findOne({ _id: accountId })) !== null;
  }

  /** Returns whether the account exists, and is neither suspended nor erased. */
  async isActive(accountId: string): Promise<boolean> {
    return (await this.#accounts.findOne({ _id: accountId }))?.status === "active";
  }

  /** Returns those of the accounts that exist, and are neither suspended nor erased. */
  async activeOf(accountIds: readonly string[]): Promise<ReadonlySet<string>> {
    const ids = [...new Set(accountIds)];
    if (ids.length === 0) return new Set();
    const options = { projection: { status: 1 }, limit: ids.length } as const;
    const found = await this.#accounts.find({ _id: { $in: ids } }, options);
    return new Set(found.filter(({ status }) => status === "active").map(({ _id }) => _id));
  }

  /**
   * Changes an account. Retries if another write came in between. Two round trips, and two more for each lost race.
   * @param edit returns the changed account, or the same object if there is nothing to do. Its errors end the change.
   * @throws problem `not_found`, and what `edit` throws.
   */
  async change(accountId: string, now: string, edit: (account: AccountRecord) => AccountRecord) {
    return compareAndSet<AccountRecord>("this account", async () => {
      const before = await this.get(accountId);
      const edited = edit(before);
      if (edited === before) return before;
      const after = { ...edited, version: before.version + 1, updated_at: now };
      const filter = { _id: accountId, version: before.version };
      return (await this.#accounts.replaceOne(filter, after)) ? after : undefined;
    });
  }

  /** Writes the lookup entries of a new key, before the account has it. Two writes, side by side. */
  async addKey(keyId: string, accountId: string, hash: string): Promise<void> {
    const byId = this.#keys.insertOne({ _id: keyId, account: accountId, last_used_at: null });
    await Promise.all([byId, this.addSecret(hash, accountId, keyId)]);
  }

  /** Deletes the entries that `addKey` wrote, if the key could not be added to its account. */
  async dropKey(keyId: string, hash: string): Promise<void> {
    await Promise.all([this.#keys.deleteOne({ _id: keyId }), this.#secrets.deleteOne({ _id: hash })]);
  }

  /** Returns the id of the account that a key belongs to. @throws problem `not_found` */
  async accountOfKey(keyId: string): Promise<string> {
    const entry = looksLikeId("key", keyId) ? await this.#keys.findOne({ _id: keyId }) : null;
    if (entry === null) throw problem("not_found", `No key has the id ${keyId}.`);
    return entry.account;
  }

  /** Returns the timestamp at which each of these keys was last used, null for never. One round trip for every 1,000. */
  async lastUsed(keyIds: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    const entries: KeyEntry[] = [];
    for (let first = 0; first < keyIds.length; first += USES_AT_ONCE)
      entries.push(...(await this.#keys.find({ _id: { $in: keyIds.slice(first, first + USES_AT_ONCE) } })));
    return new Map(entries.map(({ _id, last_used_at }) => [_id, last_used_at]));
  }

  /**
   * Sets when keys were last used, each unless a later time is already set. One round trip for every 1,000 keys.
   * @param uses timestamps by the id of the key. If it fails, some of them may be set.
   */
  async setLastUsed(uses: ReadonlyMap<string, string>): Promise<void> {
    const writes = [...uses].map(([_id, at]) => ({
      updateOne: { filter: { _id }, update: { $max: { last_used_at: at } } },
    }));
    await this.#keys.write("update", writes);
  }

  /** Returns the account and the key that have, or had, a secret. */
  async ownerOfSecret(hash: string): Promise<{ account: string; key: string } | null> {
    return this.#secrets.findOne({ _id: hash });
  }

  /** Writes the lookup entry of a secret. Call it before the account is changed. */
  async addSecret(hash: string, accountId: string, keyId: string): Promise<void> {
    await this.#secrets.insertOne({ _id: hash, account: accountId, key: keyId });
  }

  /** Returns which of the hashes have a lookup entry. Reads only the index. */
  async existingSecrets(hashes: readonly string[]): Promise<ReadonlySet<string>> {
    const only = { projection: { _id: 1 }, limit: hashes.length } as const;
    const found = await this.#secrets.find({ _id: { $in: [...hashes] } }, only);
    return new Set(found.map(({ _id }) => _id));
  }

  /**
   * Returns the account that the secret's lookup entry names, or null if there is no entry. Check that the account has
   * the secret: a crash can leave an entry without one. Two round trips; one if there is no entry.
   */
  async findBySecret(hash: string): Promise<AccountRecord | null> {
    const { db } = this.#mongo;
    // Both together may take as long as one operation may.
    return this.#mongo.bounded("find secrets", async (limits) => {
      const entry = await db.collection<SecretEntry>("secrets").findOne({ _id: hash }, limits);
      if (entry === null) return null;
      return db.collection<AccountRecord>("accounts").findOne({ _id: entry.account }, limits);
    });
  }
}
