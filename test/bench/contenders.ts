import { join } from "node:path";
import type { Bench } from "./bench.ts";
import type { Child } from "./children.ts";
import { DECIDES_ALL, type ServerSettings } from "./programs/serve.ts";

/** A limiter behind one endpoint without work. */
export interface Contender {
  readonly id: string;
  readonly title: string;
  /** Program in programs/. It is told the id. */
  readonly program: "ours" | "peers" | "find-one";
  readonly env: NodeJS.ProcessEnv;
  /** Set for this service: if it decides wrongly, the bench fails. */
  readonly ours?: true;
  /** What its documentation says, or leaves out, that no run of 20 calls can show. */
  readonly also: string;
}

export const CONTENDERS: readonly Contender[] = [
  peer("bare", "Koa + the cheapest script", "no key is checked; the window begins with the first request; no headers"),
  peer(
    "flexible",
    "Koa + two rate-limiter-flexible consumes",
    "two commands, not one decision; refused requests are counted; the window begins with the first request",
  ),
  peer("koa-ratelimit", "Koa + koa-ratelimit twice", "two commands, not one decision; memory grows with each request"),
  ours("ours", "ours, log off", "silent"),
  ours("ours-logged", "ours, log on (as it ships)", "info"),
  ours(DECIDES_ALL, "ours, log off, Redis decides each refusal", "silent"),
];

/** Limits that no run reaches. The window ends in the middle of a run only at midnight UTC. */
export const NO_LIMIT = { accountLimit: 600_000_000, keyLimit: 300_000_000, windowSeconds: 86_400 };

function peer(id: string, title: string, also: string): Contender {
  return { id, title, program: "peers", env: {}, also };
}

function ours(id: string, title: string, level: string): Contender {
  return { id, title, program: "ours", env: { LOG_LEVEL: level, LIMITER_TIMEOUT_MS: "1000" }, also: "", ours: true };
}

/** Starts a contender. Its counters are its own. */
export function startContender(
  { children, redisUrl, mongodbUrl, prefix, folder }: Bench,
  { id, program, env }: Pick<Contender, "id" | "program" | "env">,
  limits: Pick<ServerSettings, "accountLimit" | "keyLimit" | "windowSeconds">,
): Promise<Child> {
  const name = `${id}-${limits.keyLimit}`;
  const settings: ServerSettings = { name: id, redisUrl, mongodbUrl, prefix: `${prefix}:${name}`, ...limits };
  const args = [JSON.stringify(settings)];
  return children.start(`test/bench/programs/${program}`, { env, args, log: join(folder, `${name}.log`) });
}
