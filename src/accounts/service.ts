import type { AuditedChange, AuditTrail } from "../audit/trail.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { NewId } from "../infra/ids.ts";
import { Problem, problem, wholeNumber } from "../problems.ts";
import {
  type AccountRecord,
  checkedName,
  findKey,
  newAccount,
  withKey,
  withKeyRevoked,
  withKeyRotated,
  withoutContents,
  withStatus,
} from "./account.ts";
import { announceAccount, IF_RESTORED, type Versions } from "./announce.ts";
import { hashKey, makeKey, prefixOf, type RandomBytes } from "./key.ts";
import type { AccountStore } from "./store.ts";
import { type AccountView, type KeyView, type ListView, type NewKeyView, viewAccount, viewKey } from "./view.ts";

interface Dependencies {
  readonly store: AccountStore;
  readonly versions: Versions;
  readonly audit: Pick<AuditTrail, "around">;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly random: RandomBytes;
  /** Maximum number of active keys of an account (ACTIVE_KEY_CAP). */
  readonly activeKeyCap: number;
}

const MAX_GRACE_SECONDS = 90 * 24 * 3600;

const NOT_ANNOUNCED =
  "The limiter could not be updated. Replicas that have cached the old secret may accept it. " +
  "Run `admin accounts announce` once the limiter answers.";

/** Manages accounts and keys for operators. Every change is audited. Every method may throw problem `store_unavailable`. */
export class AccountService {
  readonly #options: Dependencies;

  constructor(options: Dependencies) {
    this.#options = options;
  }

  /** @throws problem `validation_failed` for a name or note that is blank or longer than 200 characters. */
  async createAccount({ name, note }: { name: string; note?: string }): Promise<AccountView> {
    const details = { name, ...(note !== undefined && { note: checkedName(note, "/note") }) };
    const account = { ...newAccount(this.#options.newId("acct"), checkedName(name), this.#now()), ...details };
    const audited = { action: "accounts create", accountId: account._id, subject: account._id, details };
    await this.#options.audit.around(audited, () => this.#options.store.insert(account));
    return viewAccount(account);
  }

  /** Returns every account, oldest first. One round trip for every 100. */
  async listAccounts(): Promise<ListView<AccountView>> {
    const data: AccountView[] = [];
    for await (const account of this.#options.store.list()) data.push(viewAccount(account));
    return { object: "list", data };
  }

  /**
   * Creates a key and returns its secret, which is never shown again. Writes the lookup entries before the account: a crash
   * in between leaves entries without a key in the account, and such a secret counts as unknown.
   * @throws problem `not_found`, `active_key_cap_reached`, or `validation_failed` as `createAccount` does.
   */
  async createKey({ accountId, name }: { accountId: string; name: string }): Promise<NewKeyView> {
    const now = this.#now();
    const secret = makeKey(this.#options.random);
    const hash = hashKey(secret);
    const secrets = [{ hash, prefix: prefixOf(secret), created_at: now, expires_at: null }];
    const key = { id: this.#options.newId("key"), name: checkedName(name), secrets, created_at: now, revoked_at: null };
    const add = (account: AccountRecord): AccountRecord => withKey(account, key, this.#options.activeKeyCap);

    add(await this.#options.store.get(accountId)); // throws before anything is written
    const audited = { action: "keys create", accountId, subject: key.id, details: { name } };
    await this.#options.audit.around(audited, async () => {
      await this.#options.store.addKey(key.id, accountId, hash);
      try {
        await this.#options.store.change(accountId, now, add);
      } catch (error) {
        if (error instanceof Problem && error.code === "active_key_cap_reached")
          await this.#options.store.dropKey(key.id, hash);
        throw error;
      }
    });
    return { ...viewKey(accountId, key), key: secret };
  }

  /** Returns an account with its keys. @throws problem `not_found` */
  async showAccount(accountId: string): Promise<AccountView & { keys: KeyView[] }> {
    const account = await this.#options.store.get(accountId, { evenErased: true });
    return { ...viewAccount(account), keys: await this.#keysOf([account]) };
  }

  /**
   * Returns the keys of an account, or of all, oldest first, without secrets.
   * @param unusedDays only active keys whose last use, or else creation, is so many days ago: 1 to 3,650.
   * @throws problem `not_found`, `validation_failed`
   */
  async listKeys(accountId?: string, unusedDays?: number): Promise<ListView<KeyView>> {
    if (unusedDays !== undefined) wholeNumber("/unused_days", unusedDays, 1, 3650);
    const accounts: AccountRecord[] = [];
    if (accountId !== undefined) accounts.push(await this.#options.store.get(accountId));
    else for await (const account of this.#options.store.list()) accounts.push(account);
    const data = await this.#keysOf(accounts);
    if (unusedDays === undefined) return { object: "list", data };
    const until = timestamp(this.#options.clock.now() - unusedDays * 24 * 3600 * 1000);
    const isUnused = (key: KeyView) => key.status === "active" && (key.last_used_at ?? key.created_at) <= until;
    return { object: "list", data: data.filter(isUnused) };
  }

  /**
   * Gives a key a new secret, which is never shown again. The old one works until the grace (0 to 90 days) ends. If the
   * limiter cannot be updated, returns a warning: an error would lose the new secret.
   * @throws problem `not_found`, `invalid_transition` for a revoked key, `validation_failed` for a grace out of range.
   */
  async rotateKey({ keyId, graceSeconds }: { keyId: string; graceSeconds: number }): Promise<NewKeyView> {
    const grace = wholeNumber("/grace_seconds", graceSeconds, 0, MAX_GRACE_SECONDS);
    const accountId = await this.#options.store.accountOfKey(keyId);
    const now = this.#options.clock.now();
    const secret = makeKey(this.#options.random);
    const record = { hash: hashKey(secret), prefix: prefixOf(secret), created_at: timestamp(now), expires_at: null };
    const graceEnds = timestamp(now + grace * 1000);
    const rotate = (account: AccountRecord): AccountRecord => withKeyRotated(account, keyId, record, graceEnds);

    rotate(await this.#options.store.get(accountId)); // throws before anything is written
    const lastUsed = await this.#lastUsed(keyId);
    const audited = { action: "keys rotate", accountId, subject: keyId, details: { grace_seconds: grace } };
    const account = await this.#options.audit.around(audited, async () => {
      await this.#options.store.addSecret(record.hash, accountId, keyId);
      return this.#options.store.change(accountId, timestamp(now), rotate);
    });
    const announced = announceAccount(accountId, this.#options).then(() => ({}));
    const warned = await announced.catch(() => ({ warning: NOT_ANNOUNCED }));
    return { ...viewKey(accountId, findKey(account, keyId), lastUsed), key: secret, ...warned };
  }

  /**
   * Revokes a key for good. Once this returns, every replica refuses the key from the next request on. Idempotent.
   * @throws problem `not_found`, or `limiter_unavailable` if only the store was updated: call it again.
   */
  async revokeKey(keyId: string): Promise<KeyView> {
    const accountId = await this.#options.store.accountOfKey(keyId);
    const audited = { action: "keys revoke", accountId, subject: keyId };
    const revoke = (account: AccountRecord, now: string) => withKeyRevoked(account, keyId, now);
    const account = await this.#change(audited, revoke, `The key ${keyId} is revoked`);
    return viewKey(accountId, findKey(account, keyId), await this.#lastUsed(keyId));
  }

  /**
   * Tells Redis the version of every account, after a command could not, or after the store was restored from a backup. Then
   * Redis knows versions that the store has lost, and every request of those accounts gets 503. Changes no record.
   */
  async announceAll(): Promise<{ object: "announcement"; accounts: number }> {
    let accounts = 0;
    for await (const account of this.#options.store.list()) {
      await announceAccount(account._id, this.#options, { mayLower: true });
      accounts++;
    }
    return { object: "announcement", accounts };
  }

  /** Gives an account another name. @throws problem `not_found`, or `validation_failed` as `createAccount` does. */
  async renameAccount(accountId: string, name: string): Promise<AccountView> {
    checkedName(name);
    const { name: earlier } = await this.#options.store.get(accountId);
    const audited = { action: "accounts rename", accountId, subject: accountId, details: { name, earlier } };
    const rename = (account: AccountRecord) => (account.name === name ? account : { ...account, name });
    const change = () => this.#options.store.change(accountId, this.#now(), rename);
    return viewAccount(await this.#options.audit.around(audited, change));
  }

  /**
   * Suspends an account, or ends its suspension. Once this returns, every replica refuses, or accepts again, all its keys.
   * Throws the same problems as revokeKey.
   */
  async setStatus(accountId: string, status: "active" | "suspended"): Promise<AccountView> {
    await this.#options.store.get(accountId); // throws not_found before an audit record is written
    const action = status === "suspended" ? "accounts suspend" : "accounts resume";
    const audited = { action, accountId, subject: accountId };
    const change = (account: AccountRecord) => withStatus(account, status);
    return viewAccount(await this.#change(audited, change, `The account ${accountId} is ${status}`));
  }

  /**
   * Changes an account, and waits for the limiter to be updated. The store is updated first: what Redis knows may be lost, a
   * record must not be. Repeating the command announces the record again, even if nothing changes in the store.
   * @param done says what is then done, for the problem if the limiter cannot be updated.
   */
  async #change(audited: AuditedChange, edit: (account: AccountRecord, now: string) => AccountRecord, done: string) {
    return this.#options.audit.around(audited, async () => {
      const now = this.#now();
      const changed = await this.#options.store.change(audited.accountId, now, (account) => edit(account, now));
      await announceAccount(changed._id, this.#options).catch((cause: unknown) => {
        const advice = String(cause).endsWith(IF_RESTORED) ? IF_RESTORED : "Repeat the command.";
        const detail = `${done} in the store, but the limiter could not be updated. Replicas may not know yet. ${advice}`;
        throw problem("limiter_unavailable", detail, { headers: { "Retry-After": "2" }, cause });
      });
      return changed;
    });
  }

  /** Leaves only the tombstone of a suspended account. Its keys are refused already. @throws problem `invalid_transition` */
  async leaveTombstone(accountId: string): Promise<void> {
    const { status } = await this.#options.store.get(accountId, { evenErased: true });
    if (status !== "erased") await this.#options.store.change(accountId, this.#now(), withoutContents);
  }

  async #keysOf(accounts: readonly AccountRecord[]): Promise<KeyView[]> {
    const lastUsed = await this.#options.store.lastUsed(accounts.flatMap(({ keys }) => keys.map(({ id }) => id)));
    return accounts.flatMap(({ _id, keys }) => keys.map((key) => viewKey(_id, key, lastUsed.get(key.id))));
  }

  async #lastUsed(keyId: string): Promise<string | null> {
    return (await this.#options.store.lastUsed([keyId])).get(keyId) ?? null;
  }

  #now(): string {
    return timestamp(this.#options.clock.now());
  }
}
