/** A limiter behind one endpoint without work. */
export interface Contender {
  readonly id: string;
  readonly title: string;
  /** Program in programs/, and the name that it is told. */
  readonly program: "ours" | "peers" | "find-one";
  readonly env: NodeJS.ProcessEnv;
  /** Set for this service: if it decides wrongly, the bench fails. */
  readonly ours?: true;
  /** What its documentation says, or leaves out, that no run of 20 calls can show. */
  readonly also: string;
}

/**
 * The last of the peers is what most users of Node pick: express-rate-limit has ten times the downloads of
 * rate-limiter-flexible, and rate-limit-redis is its own store for Redis. It runs on Express, which it is made for.
 */
export const CONTENDERS: readonly Contender[] = [
  peer("bare", "Koa + the cheapest script", "no key is checked; the window begins with the first request; no headers"),
  peer(
    "flexible",
    "Koa + two rate-limiter-flexible consumes",
    "two commands, not one decision; refused requests are counted; the window begins with the first request",
  ),
  peer("koa-ratelimit", "Koa + koa-ratelimit twice", "two commands, not one decision; memory grows with each request"),
  peer(
    "express-rate-limit",
    "Express + express-rate-limit twice, rate-limit-redis",
    "two commands, not one decision; refused requests are counted; the window begins with the first request",
  ),
  ours("ours", "ours, log off", "silent"),
  ours("ours-logged", "ours, log on (as it ships)", "info"),
];

function peer(id: string, title: string, also: string): Contender {
  return { id, title, program: "peers", env: {}, also };
}

function ours(id: string, title: string, level: string): Contender {
  return { id, title, program: "ours", env: { LOG_LEVEL: level, LIMITER_TIMEOUT_MS: "1000" }, also: "", ours: true };
}
