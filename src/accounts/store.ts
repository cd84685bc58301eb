import type { Collection } from "mongodb";
import { compareAndSet } from "../infra/compare-and-set.ts";
import { looksLikeId } from "../infra/ids.ts";
import { type Mongo, within } from "../infra/mongo.ts";
import { problem } from "../problems.ts";
import type { AccountRecord } from "./account.ts";

/** A look-up entry: where a secret, known by its hash, belongs. It is written before the account says the same. */
interface SecretEntry {
  _id: string;
  account: string;
  key: string;
}

/** A look-up entry: which account a key's id belongs to. Written before the account, too; later it holds when it was last used. */
interface KeyEntry {
  _id: string;
  account: string;
  last_used_at: string | null;
}

/** The accounts in MongoDB: one document each, written whole and only over the version that was read. */
export class AccountStore {
  readonly #mongo: Mongo;
  readonly #accounts: Collection<AccountRecord>;
  readonly #secrets: Collection<SecretEntry>;
  readonly #keys: Collection<KeyEntry>;

  constructor(mongo: Mongo) {
    this.#mongo = mongo;
    this.#accounts = mongo.db.collection("accounts");
    this.#secrets = mongo.db.collection("secrets");
    this.#keys = mongo.db.collection("keys");
  }

  /** Adds a new account. One round trip. @throws problem `store_unavailable`, as every method here. */
  async insert(account: AccountRecord): Promise<void> {
    await this.#mongo.bounded(() => this.#accounts.insertOne(account));
  }

  /** Every account, oldest first. */
  async list(): Promise<AccountRecord[]> {
    return this.#mongo.bounded((signal) => this.#accounts.find({}, { signal }).sort({ _id: 1 }).toArray());
  }

  /** That account, from the primary. One round trip. @throws problem `not_found` */
  async get(accountId: string): Promise<AccountRecord> {
    const account = looksLikeId("acct", accountId)
      ? await this.#mongo.bounded((signal) => this.#accounts.findOne({ _id: accountId }, { signal }))
      : null;
    if (account === null) throw problem("not_found", `No account has the id ${accountId}.`);
    return account;
  }

  /**
   * Makes one change to an account. Starts again from a fresh read if another write came in between. Two round trips, and two
   * more for each lost race.
   * @param edit returns the account as it should be, or the one it was given if there is nothing to do. What it throws ends the change.
   * @param now the timestamp of the change.
   * @throws problem `not_found`, and what `edit` throws.
   */
  async change(
    accountId: string,
    now: string,
    edit: (account: AccountRecord) => AccountRecord,
  ): Promise<AccountRecord> {
    return compareAndSet("this account", async () => {
      const before = await this.get(accountId);
      const edited = edit(before);
      if (edited === before) return before;
      const after = { ...edited, version: before.version + 1, updated_at: now };
      const { matchedCount } = await this.#mongo.bounded(() =>
        this.#accounts.replaceOne({ _id: accountId, version: before.version }, after),
      );
      return matchedCount === 1 ? after : undefined;
    });
  }

  /** Makes a new key findable by its id and by its secret, ahead of the account. One round trip, of two writes. */
  async addKey(keyId: string, accountId: string, hash: string): Promise<void> {
    const byId = this.#mongo.bounded(() =>
      this.#keys.insertOne({ _id: keyId, account: accountId, last_used_at: null }),
    );
    await Promise.all([byId, this.addSecret(hash, accountId, keyId)]);
  }

  /** Takes back what `addKey` wrote, for a key that its account never had. */
  async dropKey(keyId: string, hash: string): Promise<void> {
    const byId = this.#mongo.bounded(() => this.#keys.deleteOne({ _id: keyId }));
    await Promise.all([byId, this.#mongo.bounded(() => this.#secrets.deleteOne({ _id: hash }))]);
  }

  /** Which account a key's id belongs to. One round trip. @throws problem `not_found` */
  async accountOfKey(keyId: string): Promise<string> {
    const entry = looksLikeId("key", keyId)
      ? await this.#mongo.bounded((signal) => this.#keys.findOne({ _id: keyId }, { signal }))
      : null;
    if (entry === null) throw problem("not_found", `No key has the id ${keyId}.`);
    return entry.account;
  }

  /** When each of these keys was last used, a timestamp; null for never. One round trip. */
  async lastUsed(keyIds: readonly string[]): Promise<ReadonlyMap<string, string | null>> {
    const entries = await this.#mongo.bounded((signal) =>
      this.#keys.find({ _id: { $in: [...keyIds] } }, { signal }).toArray(),
    );
    return new Map(entries.map(({ _id, last_used_at }) => [_id, last_used_at]));
  }

  /** Notes that a key was used then, unless it was used later. One round trip; it touches no account. */
  async setLastUsed(keyId: string, at: string): Promise<void> {
    await this.#mongo.bounded((signal) =>
      this.#keys.updateOne({ _id: keyId }, { $max: { last_used_at: at } }, within(signal)),
    );
  }

  /** Makes a secret findable by its hash, ahead of the account. One round trip. */
  async addSecret(hash: string, accountId: string, keyId: string): Promise<void> {
    await this.#mongo.bounded(() => this.#secrets.insertOne({ _id: hash, account: accountId, key: keyId }));
  }

  /**
   * The account that a secret belongs to; null when no account knows the secret, be there an entry or not.
   * Two round trips, one for a hash without an entry.
   */
  async findBySecret(hash: string): Promise<AccountRecord | null> {
    return this.#mongo.bounded(async (signal) => {
      const entry = await this.#secrets.findOne({ _id: hash }, { signal });
      return entry === null ? null : this.#accounts.findOne({ _id: entry.account }, { signal });
    });
  }
}
