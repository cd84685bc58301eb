import { LRUCache } from "lru-cache";
import { type Clock, timestamp } from "../infra/clock.ts";
import { type Refusal, thrown } from "../problems.ts";
import { type AccountRecord, hasExpired } from "./account.ts";
import type { KnownCaller } from "./caller.ts";
import { type Credentials, presentedKey } from "./credentials.ts";
import type { GuessGuard } from "./guard.ts";
import { hashKey, wellFormed } from "./key.ts";
import { accountSuspended, keyInvalid, keyMalformed, keyReplaced, keyRevoked } from "./refusals.ts";
import type { AccountStore } from "./store.ts";

interface Dependencies {
  readonly store: AccountStore;
  readonly clock: Clock;
  readonly guard: GuessGuard;
  /**
   * How long the result of a look-up is cached, in milliseconds. If Redis loses the marker of a revocation, the revoked
   * key works for at most this long.
   */
  readonly freshMs?: number;
  /** Measures the age of cached results, in milliseconds. Monotonic, unlike `clock`, which may jump to follow Redis. */
  readonly timer?: { now(): number };
}

/** A key that exists. After `freshUntil` (on the timer), or once the secret has expired, it must be looked up again. */
interface KnownKey {
  readonly caller: KnownCaller;
  readonly freshUntil: number;
}

const MAX_CACHED = 10_000;

/** Finds out which account and key a request comes from. Caches the keys that it has looked up, except unknown ones. */
export class Authenticator {
  readonly #store: AccountStore;
  readonly #clock: Clock;
  readonly #guard: GuessGuard;
  readonly #freshMs: number;
  readonly #timer: { now(): number };
  readonly #knownKeys = new LRUCache<string, KnownKey>({ max: MAX_CACHED });
  /**
   * Secrets that were revoked or replaced, with the refusal to answer. A caller that presents one is not guessing: answer
   * from memory, without a look-up.
   */
  readonly #endedSecrets = new LRUCache<string, Refusal>({ max: MAX_CACHED });
  readonly #lookUps = new Map<string, Promise<KnownCaller>>();

  constructor({ store, clock, guard, freshMs = 60_000, timer = performance }: Dependencies) {
    this.#store = store;
    this.#clock = clock;
    this.#guard = guard;
    this.#freshMs = freshMs;
    this.#timer = timer;
  }

  /**
   * Returns the caller that the request's key belongs to. No round trip if the key was looked up within `freshMs`, is
   * mistyped, or is known to be revoked or replaced; else two, or one if no such key exists. One more, up to a tenth of a
   * second later, if too many wrong keys came from the address.
   * @returns the caller, or the refusal if no look-up was needed: `api_key_missing`, `api_key_invalid`, `api_key_revoked`.
   * @throws what a look-up finds: problem `api_key_invalid`, `api_key_revoked`, `account_suspended`, `rate_limited` (scope
   * `address`, from the guard against guessing) or `store_unavailable`.
   */
  authenticate({ authorization, apiKey, address }: Credentials): KnownCaller | Refusal | Promise<KnownCaller> {
    const key = presentedKey({ authorization, apiKey });
    if (typeof key !== "string") return key;
    const hash = hashKey(key);
    const fresh = this.#fresh(hash);
    if (fresh !== undefined) return fresh;
    // Only now: a key that was found has the right form.
    if (!wellFormed(key)) return keyMalformed();
    return this.#endedSecrets.get(hash) ?? this.#lookUps.get(hash) ?? this.#lookUp(hash, address());
  }

  /** Makes the next request with this key look it up again. Call it if the limiter answers `outdated`. */
  forget({ authorization, apiKey }: Credentials): void {
    const key = presentedKey({ authorization, apiKey });
    if (typeof key !== "string") return;
    const hash = hashKey(key);
    const known = this.#knownKeys.get(hash);
    // Keep the entry: it shows that the key is not a guess.
    if (known !== undefined) this.#knownKeys.set(hash, { ...known, freshUntil: -Infinity });
  }

  #fresh(hash: string): KnownCaller | undefined {
    const known = this.#knownKeys.get(hash);
    if (known === undefined || this.#timer.now() >= known.freshUntil) return undefined;
    const { secretEndsAt } = known.caller;
    return secretEndsAt === 0 || this.#clock.now() < secretEndsAt ? known.caller : undefined;
  }

  /** Looks a key up. Concurrent requests with the same key share one look-up, whatever their addresses. */
  #lookUp(hash: string, address: string): Promise<KnownCaller> {
    const find = () => this.#find(hash);
    // A known key is not a guess. So it is not held up by the wrong keys that others send from the same address.
    const lookUp = this.#knownKeys.has(hash) ? find() : this.#guard.attempt({ address, hash }, find);
    const shared = lookUp.finally(() => this.#lookUps.delete(hash));
    this.#lookUps.set(hash, shared);
    return shared;
  }

  async #find(hash: string): Promise<KnownCaller> {
    const startedAt = this.#timer.now();
    const account = await this.#store.findBySecret(hash);
    this.#knownKeys.delete(hash); // only now: if the store failed to answer, the key is still known
    const { caller, ended, suspended } = resultOf(account, hash, timestamp(this.#clock.now()));
    if (ended !== undefined) {
      this.#endedSecrets.set(hash, ended);
      throw thrown(ended);
    }
    // A suspension may end at any moment, so look the key up each time. But remember it: it is not a guess.
    this.#knownKeys.set(hash, { caller, freshUntil: suspended ? -Infinity : startedAt + this.#freshMs });
    if (suspended) throw thrown(accountSuspended(caller));
    return caller;
  }
}

interface LookUpResult {
  readonly caller: KnownCaller;
  /** Set if the secret was revoked or replaced. */
  readonly ended?: Refusal;
  readonly suspended: boolean;
}

/**
 * Returns what the account's record says about the secret.
 * @throws problem `api_key_invalid` if there is no account, or the account does not have the secret.
 */
function resultOf(account: AccountRecord | null, hash: string, now: string): LookUpResult {
  const key = account?.keys.find(({ secrets }) => secrets.some((secret) => secret.hash === hash));
  const secret = key?.secrets.find((candidate) => candidate.hash === hash);
  if (account === null || key === undefined || secret === undefined) {
    throw thrown(keyInvalid("No account of this service has this API key. Check that you send the right key."));
  }
  const ended = key.revoked_at !== null ? keyRevoked() : hasExpired(secret, now) ? keyReplaced() : undefined;
  const secretEndsAt = secret.expires_at === null ? 0 : Date.parse(secret.expires_at);
  const caller = { accountId: account._id, keyId: key.id, accountVersion: account.version, secretEndsAt };
  return { caller, suspended: account.status === "suspended", ...(ended !== undefined && { ended }) };
}
