import { LRUCache } from "lru-cache";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { RedisEpoch } from "../infra/redis-epoch.ts";
import { Problem, type Refusal } from "../problems.ts";
import { hasExpired, type KeyRecord, type SecretRecord } from "./account.ts";
import type { Caller, KnownCaller } from "./caller.ts";
import { type Credentials, hashKey, presentedKey, wellFormed } from "./key.ts";
import type { GuessLimiter } from "./guess-limiter.ts";
import { accountSuspended, keyInvalid, keyReplaced, keyRevoked } from "./refusals.ts";
import type { AccountStore } from "./store.ts";

interface Dependencies {
  readonly store: AccountStore;
  /** Redis's clock. */
  readonly clock: Clock;
  readonly guard: GuessLimiter;
  /** The versions of accounts in Redis (limiter/account-versions.ts). */
  readonly versions: {
    /** Tells Redis the version that a lookup has found. @returns whether Redis knows it now, or a newer one. */
    lookedUp(accountId: string, found: { version: number; begunMs: number; timeoutMs: number }): Promise<boolean>;
  };
  readonly epoch: Pick<RedisEpoch, "connections" | "of">;
  /** Maximum time for Redis to take in a version, in milliseconds (LIMITER_TIMEOUT_MS). */
  readonly timeoutMs: number;
}

/** A key that exists. In another epoch, or once the secret has expired, it must be looked up again. */
interface KnownKey {
  readonly caller: KnownCaller;
  /** Null if the result of the lookup may be used only once. */
  readonly epoch: string | number | null;
}

/** Maximum number of keys to remember. An entry takes about 350 bytes: 18 MB in all. A forgotten one costs a lookup. */
const MAX_KNOWN = 50_000;
const MAX_ENDED = 10_000;

const MALFORMED =
  "The API key is malformed: it is cut off, mistyped or followed by other text. Copy the whole key again.";
const UNKNOWN = "No account of this service has this API key. Check that you send the right key.";

/** Maximum lookups of one key in a row, when Redis reconnects during every lookup. The last result is not cached. */
const MAX_LOOKUPS = 3;

/**
 * Finds the account and the key of a request. Caches keys without a time limit, because with each charge the limiter compares
 * the version of the account that was looked up with the one that Redis knows. Unknown keys are not cached.
 */
export class Authenticator {
  readonly #options: Dependencies;
  readonly #knownKeys = new LRUCache<string, KnownKey>({ max: MAX_KNOWN });
  /** The refusals of secrets that were revoked or replaced. A caller that presents one is not guessing: no lookup. */
  readonly #endedSecrets = new LRUCache<string, Refusal>({ max: MAX_ENDED });
  readonly #lookups = new Map<string, Promise<KnownCaller>>();

  constructor(options: Dependencies) {
    this.#options = options;
  }

  /**
   * Returns the caller, or the refusal if no lookup was needed. A lookup takes two round trips to the store and one to
   * Redis; one to the store if no such key exists; and one more if too many wrong keys came from the address.
   * @throws what a lookup finds: problem `api_key_invalid`, `api_key_revoked`, `account_suspended`, `rate_limited` (scope
   * `address`, from the guard against guessing) or `store_unavailable`.
   */
  authenticate({ authorization, apiKey, address }: Credentials): KnownCaller | Refusal | Promise<KnownCaller> {
    const key = presentedKey({ authorization, apiKey });
    if (typeof key !== "string") return key;
    const hash = hashKey(key);
    const fresh = this.#fresh(hash);
    if (fresh !== undefined) return fresh;
    // Check the format only on a cache miss.
    if (!wellFormed(key)) return keyInvalid("malformed", MALFORMED);
    return this.#endedSecrets.get(hash) ?? this.#lookups.get(hash) ?? this.#lookUp(hash, address());
  }

  /**
   * Makes the next request look the key up again, if it was looked up in this version of the account. Call it if the
   * limiter returns `outdated`.
   */
  forget({ authorization, apiKey }: Credentials, version: number): void {
    const key = presentedKey({ authorization, apiKey });
    if (typeof key !== "string") return;
    const hash = hashKey(key);
    const known = this.#knownKeys.get(hash);
    // Keep the entry: it shows that the key is not a guess.
    if (known?.caller.accountVersion === version) this.#knownKeys.set(hash, { ...known, epoch: null });
  }

  #fresh(hash: string): KnownCaller | undefined {
    const known = this.#knownKeys.get(hash);
    if (known === undefined || known.epoch === null) return undefined;
    const { accountId, secretEndsAt } = known.caller;
    if (known.epoch !== this.#options.epoch.of(accountId)) return undefined;
    return secretEndsAt === 0 || this.#options.clock.now() < secretEndsAt ? known.caller : undefined;
  }

  /** Looks a key up. Concurrent requests with the same key share one lookup, whatever their addresses. */
  #lookUp(hash: string, address: string): Promise<KnownCaller> {
    const find = () => this.#find(hash);
    // A known key is not a guess. So it is not held up by the wrong keys that others send from the same address.
    const lookup = this.#knownKeys.has(hash) ? find() : this.#options.guard.attempt({ address, hash }, find);
    const shared = lookup.finally(() => this.#lookups.delete(hash));
    this.#lookups.set(hash, shared);
    return shared;
  }

  async #find(hash: string): Promise<KnownCaller> {
    const { store, clock, versions, epoch, timeoutMs } = this.#options;
    for (let lookups = 1; ; lookups++) {
      const begunMs = clock.now();
      const { connections } = epoch;
      const account = await store.findBySecret(hash);
      this.#knownKeys.delete(hash); // only now: if the store failed to respond, the key is still known
      const key = account?.keys.find(({ secrets }) => secrets.some((secret) => secret.hash === hash));
      const secret = key?.secrets.find((candidate) => candidate.hash === hash);
      if (account === null || key === undefined || secret === undefined)
        throw new Problem(keyInvalid("unknown", UNKNOWN));
      const ended = refusalOf({ accountId: account._id, keyId: key.id }, key, secret, timestamp(clock.now()));
      if (ended !== undefined) {
        this.#endedSecrets.set(hash, ended);
        throw new Problem(ended);
      }
      const caller = {
        accountId: account._id,
        keyId: key.id,
        by: { type: "key", id: key.id } as const,
        accountVersion: account.version,
        connections,
        secretEndsAt: secret.expires_at === null ? 0 : Date.parse(secret.expires_at),
      };
      // A suspension may end at any moment, so look the key up each time. But remember it: it is not a guess.
      this.#knownKeys.set(hash, { caller, epoch: null });
      if (account.status === "suspended") throw new Problem(accountSuspended(caller));
      const before = epoch.of(caller.accountId);
      const found = { version: account.version, begunMs, timeoutMs };
      // If Redis does not respond, the charge, which comes next, decides what the response is.
      const isKnown = await versions.lookedUp(caller.accountId, found).catch(() => false);
      // If Redis was connected again during the lookup, it may have lost a change that was announced after the store was read.
      const isSame = connections === epoch.connections && before === epoch.of(caller.accountId);
      if (isSame && isKnown) this.#knownKeys.set(hash, { caller, epoch: before });
      if (isSame || lookups === MAX_LOOKUPS) return caller;
    }
  }
}

/** Returns why the secret may never be used again, or undefined if it may. */
function refusalOf(about: Caller, key: KeyRecord, secret: SecretRecord, now: string): Refusal | undefined {
  if (key.revoked_at !== null) return keyRevoked(about);
  return hasExpired(secret, now) ? keyReplaced(about) : undefined;
}
