import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { RedisClient } from "./redis.ts";

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

interface Answers {
  charge: ChargeAnswer;
  issue: 0 | 1;
  standing: 0 | 3 | 4 | 6 | 7;
  usage: UsageAnswer;
}

/** The scripts of lua/. A cluster routes by the keys, so their number is fixed here. */
const SCRIPTS = {
  charge: script("charge.lua", 5),
  issue: script("fill-grant.lua", 1),
  standing: script("check-key.lua", 2),
  usage: script("usage.lua", 17),
};

/**
 * Runs a script of lua/, once at most. One round trip; two where Redis does not have it (any more), which it says before it has run
 * anything. Not ioredis's own custom commands: where two of them find the script gone at once, they send its text with the
 * first only, and fail the second when a SCRIPT FLUSH comes between them (ioredis 6.0).
 * @param given its keys, then its arguments: the script's header names them.
 */
export async function run<Name extends keyof Answers>(redis: RedisClient, name: Name, ...given: (string | number)[]): Promise<Answers[Name]> {
  const { lua, sha1, numberOfKeys } = SCRIPTS[name];
  const answer = await redis.evalsha(sha1, numberOfKeys, ...given).catch((error: Error) => {
    if (!error.message.startsWith("NOSCRIPT")) throw error;
    return redis.eval(lua, numberOfKeys, ...given);
  });
  return answer as Answers[Name];
}

/** lua/ lies two folders above this module, in src/infra as in dist/infra. */
function script(file: string, numberOfKeys: number) {
  const lua = readFileSync(new URL(`../../lua/${file}`, import.meta.url), "utf8");
  return { lua, sha1: createHash("sha1").update(lua).digest("hex"), numberOfKeys };
}
