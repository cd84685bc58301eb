import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { RedisClient } from "./redis.ts";

/** A Lua script from lua/, ready to run. */
export type Script = Readonly<{ lua: string; sha1: string }>;

/** Loads a script from lua/, with its includes. The folder is two levels above this module, in src/ as in dist/. */
export function loadScript(file: string): Script {
  const lua = readLua(file).replaceAll(/^-- include (\S+)$/gm, (_line, included: string) => readLua(included));
  return { lua, sha1: createHash("sha1").update(lua).digest("hex") };
}

/**
 * Runs a script at most once. One round trip; two if Redis does not have the script: NOSCRIPT means that nothing ran.
 * Not by ioredis's custom commands: if two find the script missing at the same time, ioredis 6.0 sends the text with the
 * first only, and the second fails if a SCRIPT FLUSH comes in between.
 * @param read makes the result from the script's reply.
 */
export function runScript<T>(
  redis: RedisClient,
  { lua, sha1 }: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
  read: (reply: unknown) => T,
): Promise<T> {
  // No async function: every charge comes through here, and each promise costs it something.
  return redis.evalsha(sha1, keys.length, ...keys, ...args).then(read, (error: Error) => {
    if (!error.message.startsWith("NOSCRIPT")) throw error;
    return redis.eval(lua, keys.length, ...keys, ...args).then(read);
  });
}

function readLua(file: string): string {
  return readFileSync(new URL(`../../lua/${file}`, import.meta.url), "utf8");
}
