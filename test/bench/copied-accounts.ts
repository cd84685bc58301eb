import type { Redis } from "ioredis";
import type { RedisClient } from "../../src/infra/redis.ts";
import { accountIdOf, fillAccounts } from "./charges.ts";

/** Accounts that are charged. The others are copies of these. If an expiry depends on the account, so do the copies'. */
const CHARGED = 1000;
/** Copies that Redis makes in one go. */
const TOGETHER = 100;

/** Copies the keys of one account to others. ARGV: the names of its keys as JSON, its id, and the ids of the others. */
const COPY = `
for _, name in ipairs(cjson.decode(ARGV[1])) do
  for i = 3, #ARGV do redis.call('COPY', name, (string.gsub(name, ARGV[2], ARGV[i]))) end
end`;

export interface Filling {
  /** For the charges. */
  readonly charges: RedisClient;
  /** The same server and database, which is empty. */
  readonly redis: Redis;
  readonly windowSeconds: number;
  /** By performance.now(): no copy is begun after it. */
  readonly until: number;
  readonly signal: AbortSignal;
}

/**
 * Fills Redis with accounts as `fillAccounts` does, in much less time: charges a thousand of them, and copies whatever keys
 * these have to the others.
 * @returns how many accounts there are then: fewer if the time was too short.
 */
export async function fillWithCopies(filling: Filling, accounts: number): Promise<number> {
  const { charges, redis, windowSeconds, until, signal } = filling;
  const charged = Math.min(CHARGED, accounts);
  await fillAccounts(charges, charged, windowSeconds);
  const names = await namesByAccount(redis);
  for (let made = charged; made < accounts; made += TOGETHER * charged) {
    for (let n = 0; n < charged; n++) {
      signal.throwIfAborted();
      if (performance.now() > until) return made;
      const copies: string[] = [];
      for (let copy = made + n; copy < accounts && copies.length < TOGETHER; copy += charged)
        copies.push(accountIdOf(copy));
      const id = accountIdOf(n);
      await redis.eval(COPY, 0, JSON.stringify(names.get(id)), id, ...copies);
    }
  }
  return accounts;
}

/** Returns the names of all keys, by the account whose id they contain. */
async function namesByAccount(redis: Redis): Promise<ReadonlyMap<string, readonly string[]>> {
  const names = new Map<string, Set<string>>();
  for await (const found of redis.scanStream({ count: 1000 }) as AsyncIterable<string[]>) {
    for (const name of found) {
      const id = /acct_\d{26}/.exec(name)?.[0];
      if (id === undefined) continue;
      // SCAN may return a name twice.
      names.set(id, (names.get(id) ?? new Set()).add(name));
    }
  }
  return new Map([...names].map(([id, own]) => [id, [...own]]));
}
