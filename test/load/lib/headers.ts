/** The members of one item of RateLimit-Policy or RateLimit: `"key";q=100;w=3600` is `{ q: 100, w: 3600 }`. */
export type Item = Readonly<Record<string, number>>;

/** Reads RateLimit-Policy or RateLimit (draft-ietf-httpapi-ratelimit-headers-10), in the form that the service sends. */
export function readItems(value: string | undefined): Readonly<Record<string, Item>> {
  const items: Record<string, Item> = {};
  for (const text of (value ?? "").split(",")) {
    const [, name, rest] = /^\s*"(\w+)"((?:;[a-z]+=\d+)+)\s*$/.exec(text) ?? [];
    if (name === undefined || rest === undefined) continue;
    items[name] = Object.fromEntries(
      rest
        .slice(1)
        .split(";")
        .map((pair) => pair.split("="))
        .map(([member = "", number]) => [member, Number(number)]),
    );
  }
  return items;
}

/** The limits and the remainders that an answer states for one surface and the key of the request. */
export interface Stated {
  readonly windowSeconds: number;
  /** Whole seconds until the window ends, rounded up. */
  readonly reset: number;
  readonly account: Level;
  readonly key: Level;
  /** What remains of the key's live grants; undefined without one. */
  readonly grant: number | undefined;
}

export interface Level {
  readonly limit: number;
  readonly remaining: number;
}

/** Returns what the headers of an answer state, or undefined if they are absent or incomplete. */
export function readStated(headers: Readonly<Record<string, string>>): Stated | undefined {
  const policy = readItems(headers["ratelimit-policy"]);
  const now = readItems(headers["ratelimit"]);
  const level = (name: string): Level | undefined => {
    const limit = policy[name]?.["q"];
    const remaining = now[name]?.["r"];
    return limit === undefined || remaining === undefined ? undefined : { limit, remaining };
  };
  const [account, key] = [level("account"), level("key")];
  const windowSeconds = policy["account"]?.["w"];
  const reset = now["account"]?.["t"];
  if (account === undefined || key === undefined || windowSeconds === undefined || reset === undefined)
    return undefined;
  return { windowSeconds, reset, account, key, grant: now["grant"]?.["r"] };
}
