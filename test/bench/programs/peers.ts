/** The other limiters, each as its documentation says, on the same endpoint. The settings' name chooses one. */
import Router from "@koa/router";
import { Redis } from "ioredis";
import Koa, { type Context, type Middleware } from "koa";
import ratelimit from "koa-ratelimit";
import { RateLimiterRedis } from "rate-limiter-flexible";
import { bareLimiter, callerOf, refuse } from "./bare.ts";
import { NOTHING, readSettings, serve } from "./serve.ts";

const settings = readSettings();
const redis = new Redis(settings.redisUrl);
const { accountLimit, keyLimit, windowSeconds, prefix } = settings;

function flexible(): Middleware {
  const common = { storeClient: redis, duration: windowSeconds };
  const account = new RateLimiterRedis({ ...common, points: accountLimit, keyPrefix: `${prefix}:account` });
  const key = new RateLimiterRedis({ ...common, points: keyLimit, keyPrefix: `${prefix}:key` });
  return async (ctx, next) => {
    const caller = callerOf(ctx);
    try {
      await account.consume(caller.account);
      await key.consume(caller.key);
    } catch (refused) {
      if (refused instanceof Error) throw refused;
      return refuse(ctx);
    }
    return next();
  };
}

function koaRatelimit(scope: "account" | "key", max: number): Middleware {
  const id = (ctx: Context) => `${prefix}:${scope}:${callerOf(ctx)[scope]}`;
  return ratelimit({ driver: "redis", db: redis, duration: windowSeconds * 1000, max, id });
}

function koaApp(...limiters: Middleware[]): ReturnType<Koa["callback"]> {
  const router = new Router();
  router.get("/nothing", ...limiters, (ctx) => {
    ctx.body = NOTHING;
  });
  return new Koa().use(router.routes()).callback();
}

const PEERS: Record<string, () => Parameters<typeof serve>[0]> = {
  bare: () => koaApp(bareLimiter(redis, settings)),
  flexible: () => koaApp(flexible()),
  "koa-ratelimit": () => koaApp(koaRatelimit("account", accountLimit), koaRatelimit("key", keyLimit)),
  /** A wrong limiter: admits everything. The bench must find out. */
  wrong: () => koaApp((_ctx, next) => next()),
};

const peer = PEERS[settings.name];
if (peer === undefined) throw new Error(`There is no peer ${settings.name}.`);
await serve(peer());
