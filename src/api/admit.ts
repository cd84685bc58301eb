import type { Context } from "koa";
import type { Authenticator } from "../accounts/authenticate.ts";
import type { Caller } from "../accounts/caller.ts";
import type { LastUsed } from "../accounts/last-used.ts";
import type { Asked, Standing } from "../limiter/decision.ts";
import { rateLimitHeaders, refusal, refusalOfStanding } from "../limiter/headers.ts";
import type { Limiter } from "../limiter/limiter.ts";
import type { Surface } from "../limiter/surfaces.ts";
import type { RequestState } from "./state.ts";

export interface AdmitOptions {
  authenticator: Authenticator;
  limiter: Limiter;
  lastUsed: LastUsed;
}

type Ctx = Context & { state: RequestState };

/**
 * Look-ups of one request's key. The first that is asked for after a rotation may join one from before it; the next is
 * younger than the news of the rotation, so what it finds holds, whatever the limiter remembers.
 */
const MOST_LOOK_UPS = 3;

/**
 * Who a request comes from, once its key is good, its account active, and its surface charged; what is free is only checked.
 * Puts both windows on the response, admitted or not. No round trip for the key where it is known, one to the limiter.
 * @throws the problems of Authenticator and Limiter, rate_limited.
 */
export async function admit(ctx: Ctx, surface: Surface | "free", { authenticator, limiter, lastUsed }: AdmitOptions): Promise<Caller> {
  const credentials = { authorization: ctx.get("Authorization") || undefined, apiKey: ctx.get("X-API-Key") || undefined, address: ctx.ip };
  const ask = (known: Asked) => (surface === "free" ? limiter.standing(known) : charge(ctx, known, surface, limiter));
  for (let lookUps = 1; ; lookUps++) {
    const known = await authenticator.authenticate(credentials);
    const caller = { accountId: known.accountId, keyId: known.keyId };
    ctx.state.caller = caller;
    const standing = await ask(lookUps < MOST_LOOK_UPS ? known : { ...caller, secretEndsAt: known.secretEndsAt });
    if (standing === undefined) {
      lastUsed.note(caller.keyId);
      return caller;
    }
    if (standing !== "outdated") throw refusalOfStanding(standing);
    authenticator.forget(credentials);
  }
}

/** @throws problem `rate_limited` */
async function charge(ctx: Ctx, caller: Asked, surface: Surface, limiter: Limiter): Promise<Standing | undefined> {
  const decision = await limiter.charge({ ...caller, surface });
  const { verdict } = decision;
  if (verdict === "outdated") return verdict;
  ctx.state.decision = decision;
  ctx.set(rateLimitHeaders(decision));
  const refused = refusal(decision);
  if (refused !== undefined) throw refused;
  return undefined;
}
