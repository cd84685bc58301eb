/** The other limiters, each as its documentation says, on the same endpoint. The settings' name chooses one. */
import Router from "@koa/router";
import express from "express";
import { type Options, rateLimit } from "express-rate-limit";
import { Redis } from "ioredis";
import Koa, { type Context, type Middleware } from "koa";
import ratelimit from "koa-ratelimit";
import { RedisStore } from "rate-limit-redis";
import { RateLimiterRedis } from "rate-limiter-flexible";
import { bareLimiter, callerOf, refuse } from "./bare.ts";
import { NOTHING, readSettings, serve } from "./serve.ts";

const REFUSAL_HEADERS = {
  "X-Request-Id": "req_01k9z3v8q3h9t4a7e0c3v6k8m2",
  "RateLimit-Policy": '"account";q=10;w=86400, "key";q=5;w=86400',
  RateLimit: '"account";r=0;t=43200, "key";r=0;t=43200',
  "Retry-After": "43500",
  "Content-Type": "application/problem+json",
  "Cache-Control": "no-store",
};
const REFUSAL_TEXT = JSON.stringify({
  type: "/docs#rate_limited",
  title: "Too many requests",
  status: 429,
  detail: "Too many requests: this account may make 10 reads requests in 1440 minutes. Please try again shortly.",
  code: "rate_limited",
  request_id: "req_01k9z3v8q3h9t4a7e0c3v6k8m2",
  members: { surface: "reads", scope: "account", limit: 10, retry_after: 43_500 },
});

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

function expressLimiter(scope: "account" | "key", limit: number): ReturnType<typeof rateLimit> {
  const sendCommand = (command: string, ...args: string[]) => redis.call(command, ...args) as Promise<number>;
  const options: Partial<Options> = {
    windowMs: windowSeconds * 1000,
    limit,
    standardHeaders: "draft-8",
    legacyHeaders: false,
    identifier: scope,
    keyGenerator: (req) => callerOf({ get: (name) => req.get(name) ?? "" })[scope],
    store: new RedisStore({ prefix: `${prefix}:${scope}:`, sendCommand }),
  };
  return rateLimit(options);
}

/** Refuses every request at the end of the event loop's turn, with an answer as large as ours. Does nothing else. */
function refusing(): Middleware {
  let turn: Promise<void> | undefined;
  const ended = () =>
    (turn ??= new Promise((resolve) => {
      setImmediate(() => {
        turn = undefined;
        resolve();
      });
    }));
  return async (ctx) => {
    await ended();
    ctx.status = 429;
    ctx.set(REFUSAL_HEADERS);
    ctx.body = REFUSAL_TEXT;
  };
}

function koaApp(...limiters: Middleware[]): ReturnType<Koa["callback"]> {
  const router = new Router();
  router.get("/nothing", ...limiters, (ctx) => {
    ctx.body = NOTHING;
  });
  return new Koa().use(router.routes()).callback();
}

function expressApp(): ReturnType<typeof express> {
  const limiters = [expressLimiter("account", accountLimit), expressLimiter("key", keyLimit)];
  return express().get("/nothing", ...limiters, (_req, res) => void res.json(NOTHING));
}

const PEERS: Record<string, () => Parameters<typeof serve>[0]> = {
  bare: () => koaApp(bareLimiter(redis, settings)),
  flexible: () => koaApp(flexible()),
  "koa-ratelimit": () => koaApp(koaRatelimit("account", accountLimit), koaRatelimit("key", keyLimit)),
  "express-rate-limit": expressApp,
  refusing: () => koaApp(refusing()),
  /** A wrong limiter: admits everything. The bench must find out. */
  wrong: () => koaApp((_ctx, next) => next()),
};

const peer = PEERS[settings.name];
if (peer === undefined) throw new Error(`There is no peer ${settings.name}.`);
await serve(peer());
