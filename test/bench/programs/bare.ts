import type { Redis, Result } from "ioredis";
import type { Context, Middleware } from "koa";
import type { ServerSettings } from "./serve.ts";

/** Decides on two counters, both or neither. The cheapest script that admits exactly the limits. */
export const SCRIPT = `
local used = redis.call('MGET', KEYS[1], KEYS[2])
if tonumber(used[1] or 0) >= tonumber(ARGV[1]) or tonumber(used[2] or 0) >= tonumber(ARGV[2]) then return 0 end
if redis.call('INCR', KEYS[1]) == 1 then redis.call('EXPIRE', KEYS[1], ARGV[3]) end
if redis.call('INCR', KEYS[2]) == 1 then redis.call('EXPIRE', KEYS[2], ARGV[3]) end
return 1
`;

declare module "ioredis" {
  interface RedisCommander<Context> {
    bareCharge(...keysAndArgs: (string | number)[]): Result<number, Context>;
  }
}

/** The limiter that a team would write for itself: one script, and nothing else. */
export function bareLimiter(
  redis: Redis,
  { accountLimit, keyLimit, windowSeconds, prefix }: ServerSettings,
): Middleware {
  redis.defineCommand("bareCharge", { numberOfKeys: 2, lua: SCRIPT });
  return async (ctx, next) => {
    const { account, key } = callerOf(ctx);
    const admitted = await redis.bareCharge(
      `${prefix}:{${account}}`,
      `${prefix}:{${account}}:${key}`,
      accountLimit,
      keyLimit,
      windowSeconds,
    );
    if (admitted === 1) await next();
    else refuse(ctx);
  };
}

/** Peers do not authenticate: they take the account from a header, and the key as it was sent. */
export function callerOf(ctx: Pick<Context, "get">): { account: string; key: string } {
  return { account: ctx.get("x-account"), key: ctx.get("authorization") };
}

export function refuse(ctx: Context): void {
  ctx.status = 429;
  ctx.body = { error: "Too many requests" };
}
