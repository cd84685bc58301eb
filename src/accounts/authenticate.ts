import { LRUCache } from "lru-cache";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { Problem } from "../problems.ts";
import { type AccountRecord, hasEnded } from "./account.ts";
import type { KnownCaller } from "./caller.ts";
import { type Credentials, presentedKey } from "./credentials.ts";
import type { GuessGuard } from "./guard.ts";
import { hashKey } from "./key.ts";
import { accountSuspended, keyInvalid, keyReplaced, keyRevoked } from "./refusals.ts";
import type { AccountStore } from "./store.ts";

interface Dependencies {
  readonly store: AccountStore;
  readonly clock: Clock;
  readonly guard: GuessGuard;
  /** How long a key counts as good after a look-up, in milliseconds: so long may a lost marker of its revocation go unnoticed. */
  readonly freshMs?: number;
  /** Ages the cache, in milliseconds from any start. Not the clock: that one is set right while the process runs. */
  readonly timer?: { now(): number };
}

/** A key that was good when it was looked up. Past `freshUntil`, on the timer, or the secret's end it has to be looked up again. */
interface GoodKey {
  readonly caller: KnownCaller;
  readonly freshUntil: number;
}

const MAX_CACHED = 10_000;

/** Who a request comes from. Only keys that are good, of accounts that are active, are remembered. */
export class Authenticator {
  readonly #store: AccountStore;
  readonly #clock: Clock;
  readonly #guard: GuessGuard;
  readonly #freshMs: number;
  readonly #timer: { now(): number };
  readonly #good = new LRUCache<string, GoodKey>({ max: MAX_CACHED });
  /** Secrets that were good once and never will be again, with why: whoever has one is not guessing, and costs no look-up. */
  readonly #ended = new LRUCache<string, () => Problem>({ max: MAX_CACHED });
  readonly #lookUps = new Map<string, Promise<KnownCaller>>();

  constructor({ store, clock, guard, freshMs = 60_000, timer = performance }: Dependencies) {
    this.#store = store;
    this.#clock = clock;
    this.#guard = guard;
    this.#freshMs = freshMs;
    this.#timer = timer;
  }

  /**
   * The caller that a request's key stands for. No round trip for a key good within `freshMs`, else two; one for an
   * unknown key, none for a mistyped one and for one known to be revoked or replaced.
   * @throws problem `api_key_missing`, `api_key_invalid`, `api_key_revoked`, `account_suspended`, `rate_limited` (the guard
   * against guessing, scope `address`) or `store_unavailable`.
   */
  async authenticate({ authorization, apiKey, address }: Credentials): Promise<KnownCaller> {
    const hash = hashKey(presentedKey({ authorization, apiKey }));
    const fresh = this.#fresh(hash);
    if (fresh !== undefined) return fresh;
    const ended = this.#ended.get(hash);
    if (ended !== undefined) throw ended();
    // A key that was good lately is no guess, and joining a look-up costs nothing: neither waits for a neighbour's failures.
    if (this.#good.has(hash) || this.#lookUps.has(hash)) return this.#lookUp(hash);
    return this.#guard.attempt(address, () => this.#lookUp(hash));
  }

  /** Makes the next request with this key look it up, because the limiter says that it was rotated since. */
  forget({ authorization, apiKey }: Credentials): void {
    const hash = hashKey(presentedKey({ authorization, apiKey }));
    const good = this.#good.get(hash);
    if (good !== undefined) this.#good.set(hash, { ...good, freshUntil: -Infinity }); // still known as no guess
  }

  #fresh(hash: string): KnownCaller | undefined {
    const good = this.#good.get(hash);
    if (good === undefined || this.#timer.now() >= good.freshUntil) return undefined;
    const { secretEndsAt } = good.caller;
    return secretEndsAt === 0 || this.#clock.now() < secretEndsAt ? good.caller : undefined;
  }

  /** Looks a key up, once for all who ask meanwhile. */
  async #lookUp(hash: string): Promise<KnownCaller> {
    const known = this.#fresh(hash) ?? this.#lookUps.get(hash);
    if (known !== undefined) return known;
    const lookUp = this.#find(hash).finally(() => this.#lookUps.delete(hash));
    this.#lookUps.set(hash, lookUp);
    return lookUp;
  }

  async #find(hash: string): Promise<KnownCaller> {
    const asked = this.#timer.now();
    const account = await this.#store.findBySecret(hash);
    this.#good.delete(hash); // a store that did not answer leaves it: the key may be as good as it was
    const { caller, ended, suspended } = judge(account, hash, timestamp(this.#clock.now()));
    if (ended !== undefined) {
      this.#ended.set(hash, ended);
      throw ended();
    }
    // A suspension may end at any moment, so it is looked up each time; but whoever has such a key is not guessing.
    this.#good.set(hash, { caller, freshUntil: suspended ? -Infinity : asked + this.#freshMs });
    if (suspended) throw accountSuspended();
    return caller;
  }
}

interface Judgement {
  readonly caller: KnownCaller;
  /** Why the secret will never be good again. */
  readonly ended?: () => Problem;
  readonly suspended: boolean;
}

/** What the account says of the secret. @throws problem `api_key_invalid`: an entry whose account does not know it is as good as none. */
function judge(account: AccountRecord | null, hash: string, now: string): Judgement {
  const key = account?.keys.find(({ secrets }) => secrets.some((secret) => secret.hash === hash));
  const secret = key?.secrets.find((candidate) => candidate.hash === hash);
  if (account === null || key === undefined || secret === undefined) {
    throw keyInvalid("The API key is not known. Check that it is the right one, of this service.");
  }
  const ended = key.revoked_at !== null ? keyRevoked : hasEnded(secret, now) ? keyReplaced : undefined;
  const secretEndsAt = secret.expires_at === null ? 0 : Date.parse(secret.expires_at);
  const caller = { accountId: account._id, keyId: key.id, accountVersion: account.version, secretEndsAt };
  return { caller, suspended: account.status === "suspended", ...(ended !== undefined && { ended }) };
}
