import type { Context } from "koa";
import type { Authenticator } from "../accounts/authenticate.ts";
import type { Caller } from "../accounts/caller.ts";
import type { LastUsed } from "../accounts/last-used.ts";
import type { CallerClaim, KeyRefusal } from "../limiter/decision.ts";
import { keyRefused, rateLimitHeaders, refusal } from "../limiter/headers.ts";
import type { Limiter } from "../limiter/limiter.ts";
import type { Surface } from "../limiter/surfaces.ts";
import { Problem } from "../problems.ts";
import type { ApiState } from "./state.ts";

export interface AdmitOptions {
  authenticator: Authenticator;
  limiter: Limiter;
  lastUsed: LastUsed;
}

type Ctx = Context & { state: ApiState };

/**
 * Maximum look-ups of the key for one request. After a rotation the first result may be cached, and the second may come
 * from a look-up that began before the rotation. The third begins after it, so the limiter does not check the version
 * of its result.
 */
const MAX_LOOK_UPS = 3;

/**
 * Authenticates the request, charges the surface and returns the caller. Sets the rate limit headers whether or not the
 * request is admitted. On a free route, checks the key, stores its usage in the state, and sets no rate limit
 * headers. One round trip to the limiter, and up to two to the store unless the key is cached. Repeats both if the key was rotated since it was cached.
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
    surface === "free" ? check(ctx, claim, limiter) : charge(ctx, claim, surface, limiter);
  for (let lookUps = 1; ; lookUps++) {
    const known = await authenticator.authenticate(credentials).catch((error: unknown) => {
      if (error instanceof Problem && error.extras.about !== undefined) ctx.state.caller = error.extras.about;
      throw error;
    });
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

/** Checks the key and reads what it has used. Returns why it may not be used, or undefined if it may. */
async function check(ctx: Ctx, claim: CallerClaim, limiter: Limiter): Promise<KeyRefusal | undefined> {
  const usage = await limiter.readUsage(claim);
  ctx.state.usage = usage;
  return usage.refusal;
}

/**
 * Charges the surface and sets the rate limit headers. Returns `outdated` if the key must be looked up again.
 * @throws problem rate_limited, and those of a key that may not be used.
 */
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
