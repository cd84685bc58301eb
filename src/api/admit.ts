import type { Context } from "koa";
import type { Authenticator } from "../accounts/authenticate.ts";
import type { Caller, Requester } from "../accounts/caller.ts";
import { headerOf, type RequestState } from "../http/request.ts";
import type { StoreOutage } from "../infra/store-outage.ts";
import type { Decision } from "../limiter/decision.ts";
import { keyRefused, rateLimitHeaders, refusalOf } from "../limiter/headers.ts";
import type { Limiter } from "../limiter/limiter.ts";
import type { Surface } from "../limiter/surfaces.ts";
import type { Usage } from "../limiter/usage.ts";
import { isRefusal, type Refusal } from "../problems.ts";

/** What the middleware learns about a request. The access log is written from it. */
export interface ApiState extends RequestState {
  endpointName?: string;
  caller?: Caller;
  decision?: Decision;
  /** As how many requests it counts, if more than one. */
  cost?: number;
  /** What the key and its account have used. Read for a free route only. */
  usage?: Usage;
}

export interface AdmitOptions {
  authenticator: Authenticator;
  limiter: Limiter;
  outage: Pick<StoreOutage, "check">;
  /** Counts what each key uses and is refused, and notes when it is used (usage/counter.ts). */
  counter: { count(caller: Caller, decision: Decision, cost: number): void; note(keyId: string): void };
}

export type Ctx = Context & { state: ApiState };

/**
 * Maximum lookups of the key for one request. After a change of the account the first result may be cached, and the second
 * may come from a lookup that began before the change. The third begins after it.
 */
const MAX_LOOKUPS = 3;

/**
 * Authenticates the request and charges the surface. Sets the rate limit headers whether or not the request is admitted.
 * On a free route, checks the key and stores its usage in the state. Repeats all if the account was changed since. One
 * round trip to the limiter; unless the key is cached, one more, and two to the store.
 * @param chargeOf is called once the key is known. `cost`: the number of requests that it counts as, 1 by default.
 * @returns the caller, or why the request is refused: rate_limited or a problem of its key.
 * @throws problems of the lookup of a key (Authenticator), and limiter_unavailable; store_unavailable before it charges, while
 * the store does not answer.
 */
export async function admit(
  ctx: Ctx,
  chargeOf: () => { surface: Surface | "free"; cost?: number | undefined },
  { authenticator, limiter, counter, outage }: AdmitOptions,
): Promise<Requester | Refusal> {
  const credentials = {
    authorization: headerOf(ctx.req, "authorization"),
    apiKey: headerOf(ctx.req, "x-api-key"),
    address: () => ctx.ip,
  };
  for (let lookups = 1; ; lookups++) {
    const found = authenticator.authenticate(credentials);
    const known = found instanceof Promise ? await found : found;
    if (isRefusal(known)) return known;
    const { accountId, keyId, accountVersion, connections, secretEndsAt } = known;
    const caller = { accountId, keyId };
    ctx.state.caller = caller;
    const { surface, cost = 1 } = chargeOf();
    if (cost > 1) ctx.state.cost = cost;
    let refused: Refusal | "outdated" | undefined;
    if (surface === "free") {
      const { refusal } = (ctx.state.usage = await limiter.readUsage(known));
      refused = refusal === undefined || refusal === "outdated" ? refusal : keyRefused(refusal);
    } else {
      outage.check(/^(GET|HEAD)$/.test(ctx.method) ? "read" : "write");
      // Written out, because spreading objects here takes 3 µs of each request.
      const claim = { accountId, keyId, surface, cost, accountVersion, connections, secretEndsAt };
      const decision = await limiter.charge(claim);
      counter.count(caller, decision, cost);
      refused = decided(ctx, decision, keyId, cost);
    }
    if (refused === undefined) {
      counter.note(keyId);
      return known;
    }
    if (refused !== "outdated") return refused;
    authenticator.forget(credentials, accountVersion);
    if (lookups === MAX_LOOKUPS) return keyRefused(refused);
  }
}

/** Sets the rate limit headers. Returns why the request is refused; `outdated` if the key must be looked up again. */
function decided(ctx: Ctx, decision: Decision, keyId: string, cost: number): Refusal | "outdated" | undefined {
  if (decision.verdict === "outdated") return decision.verdict;
  ctx.state.decision = decision;
  const headers = rateLimitHeaders(decision);
  for (const name in headers) ctx.res.setHeader(name, headers[name]!);
  return refusalOf(decision, keyId, cost);
}
