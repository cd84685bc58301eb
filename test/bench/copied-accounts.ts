import type { Redis } from "ioredis";
import type { RedisClient } from "../../src/infra/redis.ts";
import { accountIdOf, fillAccounts } from "./charges.ts";

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
 * Fills Redis with accounts as `fillAccounts` does, in much less time: charges some of them, and copies whatever keys these
 * have to the others. If an expiry depends on the account, so do the copies'.
 * @param most how many are charged.
 * @returns how many accounts there are then: fewer if the time was too short.
 */
export async function fillWithCopies(filling: Filling, accounts: number, most = 1000): Promise<number> {
  const { charges, redis, windowSeconds, until, signal } = filling;
  const charged = Math.min(most, accounts);
  await fillAccounts(charges, charged, windowSeconds);
  const first = accountIdOf(0);
  const names = await redis.keys(`*${first}*`);
  for (let made = charged; made < accounts; made += TOGETHER * charged) {
    for (let n = 0; n < charged; n++) {
      signal.throwIfAborted();
      if (performance.now() > until) return made;
      const id = accountIdOf(n);
      const copies: string[] = [];
      for (let copy = made + n; copy < accounts && copies.length < TOGETHER; copy += charged)
        copies.push(accountIdOf(copy));
      const own = names.map((name) => name.replace(first, id));
      await redis.eval(COPY, 0, JSON.stringify(own), id, ...copies);
    }
  }
  return accounts;
}
