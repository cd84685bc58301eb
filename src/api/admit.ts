import type { Context } from "koa";
import type { Authenticator } from "../accounts/authenticate.ts";
import type { Caller, KnownCaller } from "../accounts/caller.ts";
import type { Credentials } from "../accounts/credentials.ts";
import type { LastUsed } from "../accounts/last-used.ts";
import { headerOf } from "../http/request.ts";
import type { CallerClaim } from "../limiter/decision.ts";
import { keyRefused, rateLimitHeaders, refusalOf } from "../limiter/headers.ts";
import type { Limiter } from "../limiter/limiter.ts";
import type { Surface } from "../limiter/surfaces.ts";
import { isRefusal, Problem, type Refusal } from "../problems.ts";
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
 * Authenticates the request and charges the surface. Sets the rate limit headers whether or not the request is admitted.
 * On a free route, checks the key, stores its usage in the state, and sets no rate limit headers. One round trip to the
 * limiter, and up to two to the store unless the key is cached. Repeats both if the key was rotated since it was cached.
 * @returns the caller, or why the request is refused: rate_limited or a problem of its key.
 * @throws problems of the look-up of a key (Authenticator), and limiter_unavailable.
 */
export async function admit(
  ctx: Ctx,
  surface: Surface | "free",
  { authenticator, limiter, lastUsed }: AdmitOptions,
): Promise<Caller | Refusal> {
  const credentials = {
    authorization: headerOf(ctx.req, "authorization"),
    apiKey: headerOf(ctx.req, "x-api-key"),
    address: () => ctx.ip,
  };
  for (let lookUps = 1; ; lookUps++) {
    const known = await authenticate(ctx, credentials, authenticator);
    if (isRefusal(known)) return known;
    const { accountId, keyId, accountVersion, secretEndsAt } = known;
    const caller = { accountId, keyId };
    ctx.state.caller = caller;
    const claim = lookUps < MAX_LOOK_UPS ? { ...caller, accountVersion, secretEndsAt } : { ...caller, secretEndsAt };
    const refused = surface === "free" ? await check(ctx, claim, limiter) : await charge(ctx, claim, surface, limiter);
    if (refused === undefined) {
      lastUsed.note(keyId);
      return caller;
    }
    if (refused !== "outdated") return refused;
    authenticator.forget(credentials);
  }
}

/** Finds the caller. If the key is known but refused, notes whose it is, for the log. */
async function authenticate(
  ctx: Ctx,
  credentials: Credentials,
  authenticator: Authenticator,
): Promise<KnownCaller | Refusal> {
  try {
    return await authenticator.authenticate(credentials);
  } catch (error) {
    if (error instanceof Problem && error.extras.about !== undefined) ctx.state.caller = error.extras.about;
    throw error;
  }
}

/** Checks the key and reads what it has used. Returns why it may not be used, or undefined if it may. */
async function check(ctx: Ctx, claim: CallerClaim, limiter: Limiter): Promise<Refusal | "outdated" | undefined> {
  const usage = await limiter.readUsage(claim);
  ctx.state.usage = usage;
  if (usage.refusal === undefined || usage.refusal === "outdated") return usage.refusal;
  return keyRefused(usage.refusal);
}

/** Charges the surface and sets the rate limit headers. Returns `outdated` if the key must be looked up again. */
async function charge(
  ctx: Ctx,
  claim: CallerClaim,
  surface: Surface,
  limiter: Limiter,
): Promise<Refusal | "outdated" | undefined> {
  const decision = await limiter.charge({ ...claim, surface });
  if (decision.verdict === "outdated") return decision.verdict;
  ctx.state.decision = decision;
  ctx.set(rateLimitHeaders(decision));
  return refusalOf(decision);
}
