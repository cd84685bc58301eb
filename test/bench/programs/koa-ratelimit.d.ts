/** koa-ratelimit has no types of its own. These are of the options that the bench sets. */
declare module "koa-ratelimit" {
  import type { Redis } from "ioredis";
  import type { Context, Middleware } from "koa";

  export default function ratelimit(options: {
    driver: "redis";
    db: Redis;
    /** In milliseconds. */
    duration: number;
    max: number;
    id: (ctx: Context) => string;
  }): Middleware;
}
