export interface Limits {
  account: number;
  key: number;
}

export interface ModelGrant {
  remaining: number;
  amount: number;
  expiresInDays: number;
}

export interface Charge {
  key: number;
  surface: "create" | "start";
  cost: number;
  limits: Limits;
  /** Undefined: not checked. */
  accountVersion: number | undefined;
  showGrants: boolean;
}

/**
 * A simple model of the limiter's scripts: one account, keys identified by number, and a clock that stands still. Windows are
 * relative to the one that the clock shows. That time passes, or that the clock steps back, is then a ledger of another
 * window.
 */
export class Model {
  /** The window of the ledger; null until the first charge. */
  window: number | null = null;
  version: number | null = null;
  used = new Map<string, number>();
  grants = new Map<string, Map<string, ModelGrant>>();

  /** Returns [verdict, used by the account, used by the key, window, grant remaining, grant amount]. */
  charge({ key, surface, cost, limits, accountVersion, showGrants }: Charge): (number | string)[] {
    const live = [...this.grantsOf(key, surface).values()].filter(({ expiresInDays }) => expiresInDays > 0);
    const [grant] = live
      .filter(({ remaining }) => remaining >= cost)
      .toSorted((a, b) => a.expiresInDays - b.expiresInDays);
    const isOutdated = accountVersion !== undefined && (this.version === null || this.version > accountVersion);
    const accountExhausted = this.usedOf(surface) + cost > limits.account;
    const exhausted = accountExhausted || this.usedOf(surface, key) + cost > limits.key;
    let verdict = accountExhausted ? "account_exhausted" : "key_exhausted";
    if (isOutdated) verdict = "outdated";
    else if (!exhausted) {
      verdict = "admitted";
      this.#add(surface, key, cost);
    } else if (grant !== undefined) {
      verdict = "granted";
      grant.remaining -= cost;
    }
    const isShown = showGrants || (exhausted && !isOutdated);
    const sum = (part: "remaining" | "amount") =>
      live.length === 0 || !isShown ? -1 : live.reduce((total, one) => total + one[part], 0);
    const used = [this.usedOf(surface), this.usedOf(surface, key)];
    return [verdict, ...used, this.current, sum("remaining"), sum("amount")];
  }

  /** Returns the version that is known afterwards. */
  raise(version: number, over: number): number {
    if (this.version === null || this.version <= version || this.version === over) this.version = version;
    return this.version;
  }

  /** Redis loses all data. */
  lose(): void {
    this.window = null;
    this.version = null;
    this.used = new Map();
    this.grants = new Map();
  }

  /** The current window: the clock's, or the next one if the clock stepped back out of it. */
  get current(): number {
    return this.window === 1 ? 1 : 0;
  }

  usedOf(surface: string, key?: number): number {
    if (this.window !== this.current) return 0;
    return this.used.get(key === undefined ? surface : `${surface} ${key}`) ?? 0;
  }

  grantsOf(key: number, surface: Charge["surface"]): Map<string, ModelGrant> {
    const name = `${surface} ${key}`;
    return this.grants.get(name) ?? this.grants.set(name, new Map()).get(name)!;
  }

  #add(surface: string, key: number, cost: number): void {
    const [account, own] = [this.usedOf(surface) + cost, this.usedOf(surface, key) + cost];
    if (this.window !== this.current) this.used = new Map();
    this.window = this.current;
    this.used.set(surface, account).set(`${surface} ${key}`, own);
  }
}
