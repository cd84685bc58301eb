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
}

/** A simple model of lua/charge.lua: one account, keys identified by number, and a clock that stands still. */
export class Model {
  readonly used = new Map<string, number>();
  readonly grants = new Map<string, Map<string, ModelGrant>>();
  readonly revoked = new Set<number>();
  suspended = false;

  /** Returns [verdict, account remaining, key remaining, grant remaining, grant amount]; the last two are -1 without a grant. */
  charge({ key, surface, cost }: Charge, limits: Limits): (number | string)[] {
    const account = this.usedOf(surface);
    const own = this.usedOf(surface, key);
    const live = [...this.grantsOf(key, surface).values()].filter(({ expiresInDays }) => expiresInDays > 0);
    const [grant] = live
      .filter(({ remaining }) => remaining >= cost)
      .toSorted((a, b) => a.expiresInDays - b.expiresInDays);
    const verdict = this.verdict(key, account + cost > limits.account, own + cost > limits.key, grant !== undefined);
    if (verdict === "granted" && grant) grant.remaining -= cost;
    const charged = verdict === "admitted" ? cost : 0;
    this.used.set(surface, account + charged).set(`${surface} ${key}`, own + charged);
    const sum = (part: "remaining" | "amount") =>
      live.length === 0 ? -1 : live.reduce((total, one) => total + one[part], 0);
    return [verdict, limits.account - account - charged, limits.key - own - charged, sum("remaining"), sum("amount")];
  }

  verdict(key: number, accountExhausted: boolean, keyExhausted: boolean, granted: boolean): string {
    if (this.revoked.has(key)) return "revoked";
    if (this.suspended) return "suspended";
    if (!accountExhausted && !keyExhausted) return "admitted";
    if (granted) return "granted";
    return accountExhausted ? "account_exhausted" : "key_exhausted";
  }

  usedOf(surface: string, key?: number): number {
    return this.used.get(key === undefined ? surface : `${surface} ${key}`) ?? 0;
  }

  grantsOf(key: number, surface: Charge["surface"]): Map<string, ModelGrant> {
    const name = `${surface} ${key}`;
    return this.grants.get(name) ?? this.grants.set(name, new Map()).get(name)!;
  }
}
