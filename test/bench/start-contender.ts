import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import type { Bench } from "./bench.ts";
import type { Child } from "./children.ts";
import type { Contender } from "./contenders.ts";
import type { ServerSettings } from "./programs/serve.ts";

export interface Limits {
  readonly accountLimit: number;
  readonly keyLimit: number;
  readonly windowSeconds: number;
}

/** Starts a contender. Its counters are its own. Its log goes to a file, as in a container. */
export async function startContender(
  { children, redisUrl, mongodbUrl, prefix, folder }: Bench,
  { id, program, env }: Pick<Contender, "id" | "program" | "env">,
  limits: Limits,
): Promise<Child> {
  const name = `${id}-${limits.keyLimit}-${limits.windowSeconds}`;
  const settings: ServerSettings = { name: id, redisUrl, mongodbUrl, prefix: `${prefix}:${name}`, ...limits };
  const log = openSync(join(folder, `${name}.log`), "a");
  try {
    const args = [JSON.stringify(settings)];
    return await children.start(`test/bench/programs/${program}`, { env, stdout: log, args });
  } finally {
    closeSync(log);
  }
}
