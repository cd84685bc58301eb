import { readFileSync } from "node:fs";
import type { Result } from "ioredis";

/** The answer of lua/charge.lua; its header says what each integer is. */
export type ChargeAnswer = [
  verdict: number,
  accountRemaining: number,
  keyRemaining: number,
  resetMs: number,
  grantRemaining: number,
  nowMs: number,
  grantAmount: number,
];

/** The answer of lua/usage.lua; its header says what each part is. */
export type UsageAnswer = [nowMs: number, revoked: number, suspended: number, grants: string[], counters: number[]];

declare module "ioredis" {
  interface RedisCommander<Context> {
    charge(...keysAndArguments: (string | number)[]): Result<ChargeAnswer, Context>;
    issue(key: string, grantId: string, amount: number): Result<0 | 1, Context>;
    standing(keyStanding: string, accountStanding: string, version: number, secretEnd: number): Result<0 | 3 | 4 | 6 | 7, Context>;
    usage(...keysAndArguments: (string | number)[]): Result<UsageAnswer, Context>;
  }
}

/** The scripts of lua/ as commands of the client. A cluster routes by the keys, so their number is fixed here. */
export const SCRIPTS = {
  charge: { lua: source("charge.lua"), numberOfKeys: 5 },
  issue: { lua: source("issue.lua"), numberOfKeys: 1 },
  standing: { lua: source("standing.lua"), numberOfKeys: 2 },
  usage: { lua: source("usage.lua"), numberOfKeys: 17 },
};

/** lua/ lies two folders above this module, in src/infra as in dist/infra. */
function source(name: string): string {
  return readFileSync(new URL(`../../lua/${name}`, import.meta.url), "utf8");
}
