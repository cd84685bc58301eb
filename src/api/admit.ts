import type { Context } from "koa";
import type { Authenticator } from "../accounts/authenticate.ts";
import type { Caller } from "../accounts/caller.ts";
import type { LastUsed } from "../accounts/last-used.ts";
import type { CallerClaim, KeyRefusal } from "../limiter/decision.ts";
import { keyRefused, rateLimitHeaders, refusal } from "../limiter/headers.ts";
import type { Limiter } from "../limiter/limiter.ts";
import type { Surface } from "../limiter/surfaces.ts";
import type { ApiState } from "./state.ts";

export interface AdmitOptions {
  authenticator: Authenticator;
  limiter: Limiter;
  lastUsed: LastUsed;
}

type Ctx = Context & { state: ApiState };

/**
 * Look-ups of the key for one request. After a rotation the first may join a look-up that began before it. The next one begins
 * after the news of the rotation, so its result holds, whatever the limiter says.
 */
const MAX_LOOK_UPS = 3;

/**
 * Returns who sent the request, once the key is good, the account active and the surface charged. A free route is only
 * checked. Puts both windows on the response, admitted or not. One round trip to the limiter, and none for a key known to
 * this replica.
 * @throws the problems of Authenticator and Limiter, and rate_limited.
 */
export async function admit(
  ctx: Ctx,
  surface: Surface | "free",
  { authenticator, limiter, lastUsed }: AdmitOptions,
): Promise<Caller> {
  const credentials = {
    authorization: ctx.get("Authorization") || undefined,
    apiKey: ctx.get("X-API-Key") || undefined,
    address: ctx.ip,
  };
  const ask = (claim: CallerClaim) =>
    surface === "free" ? limiter.checkKey(claim) : charge(ctx, claim, surface, limiter);
  for (let lookUps = 1; ; lookUps++) {
    const known = await authenticator.authenticate(credentials);
    const caller = { accountId: known.accountId, keyId: known.keyId };
    ctx.state.caller = caller;
    const refused = await ask(lookUps < MAX_LOOK_UPS ? known : { ...caller, secretEndsAt: known.secretEndsAt });
    if (refused === undefined) {
      lastUsed.note(caller.keyId);
      return caller;
    }
    if (refused !== "outdated") throw keyRefused(refused);
    authenticator.forget(credentials);
  }
}

/** @throws problem `rate_limited`, and those of a key that may not be used */
async function charge(
  ctx: Ctx,
  claim: CallerClaim,
  surface: Surface,
  limiter: Limiter,
): Promise<KeyRefusal | undefined> {
  const decision = await limiter.charge({ ...claim, surface });
  const { verdict } = decision;
  if (verdict === "outdated") return verdict;
  ctx.state.decision = decision;
  ctx.set(rateLimitHeaders(decision));
  const refused = refusal(decision);
  if (refused !== undefined) throw refused;
  return undefined;
}
