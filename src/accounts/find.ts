import { type Clock, timestamp } from "../infra/clock.ts";
import { invalid, problem } from "../problems.ts";
import { findKey, hasExpired } from "./account.ts";
import { hashKey, prefixOf, wellFormed } from "./key.ts";
import type { AccountStore } from "./store.ts";
import { type AccountView, viewAccount, viewKey } from "./view.ts";

/** Maximum number of accounts that a search returns. */
const MAX_FOUND = 100;

/**
 * Returns the accounts whose name or note contains the text, in any case, or that have a key whose first twelve characters
 * are those of the text. Reads all accounts, 100 for each round trip.
 * @throws problem `validation_failed` for a blank text.
 */
export async function findAccounts(store: AccountStore, text: string) {
  if (text.trim() === "") throw invalid("/text", "must not be blank");
  const [part, start] = [folded(text.trim()), prefixOf(text.trim())];
  const data: (AccountView & { matched_keys: string[] })[] = [];
  for await (const account of store.list()) {
    const matched = account.keys.filter(({ secrets }) => secrets.some(({ prefix }) => prefix === start));
    if (matched.length === 0 && ![account.name, account.note ?? ""].some((each) => folded(each).includes(part)))
      continue;
    if (data.length === MAX_FOUND) return { object: "list", data, has_more: true };
    data.push({ ...viewAccount(account), matched_keys: matched.map(({ id }) => id) });
  }
  return { object: "list", data, has_more: false };
}

/** Returns the key that has a secret, or had it until a rotation. @throws problem `not_found`, also for a mistyped one. */
export async function identifyKey(store: AccountStore, secret: string, clock: Clock) {
  const hash = hashKey(secret);
  const owner = await store.ownerOfSecret(hash);
  const mistyped = "This key is cut off or mistyped: its checksum is wrong.";
  if (owner === null) throw problem("not_found", wellFormed(secret) ? "No account has this key." : mistyped);
  const account = await store.get(owner.account);
  const key = findKey(account, owner.key);
  const found = key.secrets.find((each) => each.hash === hash);
  const isExpired = found === undefined || hasExpired(found, timestamp(clock.now()));
  return {
    object: "key_match",
    /** Whether a request with this secret is accepted now. */
    accepted: !isExpired && key.revoked_at === null && account.status === "active",
    /** `rotated`: there is a newer secret, but this one works until `expires_at`. */
    secret_status: isExpired ? "expired" : found.expires_at === null ? "current" : "rotated",
    expires_at: found?.expires_at ?? null,
    key: viewKey(account._id, key, (await store.lastUsed([key.id])).get(key.id)),
    account: viewAccount(account),
  } as const;
}

/** Returns a key's id and account, with their names. @throws problem `not_found` */
export async function nameOfKey(store: AccountStore, keyId: string): Promise<string> {
  const account = await store.get(await store.accountOfKey(keyId));
  return `${keyId} (${findKey(account, keyId).name}) of ${account._id} (${account.name})`;
}

/** Returns a text without the differences that a search ignores. */
function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}
