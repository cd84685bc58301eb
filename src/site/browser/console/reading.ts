import type { Limits, LiveGrant, SurfaceLimits } from "../../../limits/schema.ts";
import type { Surface } from "../../../limiter/surfaces.ts";

export interface Reading {
  readonly limits: Limits;
  /** When it arrived, in milliseconds of `performance.now()`: the reader's clock may be wrong, or may be set. */
  readonly at: number;
}

/** Returns the milliseconds until a surface's windows restart; 0 once they have. */
export function msToReset({ limits, at }: Reading, surface: Surface, now: number): number {
  const seconds = surfaceOf(limits, surface)?.reset ?? 0;
  return Math.max(0, at + seconds * 1000 - now);
}

export function surfaceOf(limits: Limits, surface: Surface): SurfaceLimits | undefined {
  return limits.surfaces.find((each) => each.surface === surface);
}

/** Returns the remaining requests of the key's live grants for a surface. */
export function grantedFor(limits: Limits, surface: Surface): number {
  return sum(limits.grants.filter((grant) => grant.surface === surface).map(({ remaining }) => remaining));
}

/**
 * Returns the reading after a charged request, from the `RateLimit` header of its answer: what GET /limits would say
 * now, without asking. Returns the same reading if there is no such header.
 */
export function afterCharge(reading: Reading, surface: Surface, header: string | null): Reading {
  const left = parseRateLimit(header ?? "");
  const [account, key, grant] = ["account", "key", "grant"].map((scope) => left.get(`${scope}-${surface}`));
  if (account === undefined || key === undefined) return reading;
  const surfaces = reading.limits.surfaces.map((each) =>
    each.surface === surface
      ? { ...each, account: withRemaining(each.account, account), key: withRemaining(each.key, key) }
      : each,
  );
  const drawn = grant === undefined ? 0 : Math.max(0, grantedFor(reading.limits, surface) - grant);
  return { ...reading, limits: { ...reading.limits, surfaces, grants: draw(reading.limits.grants, surface, drawn) } };
}

/** Takes requests from the grants for a surface, in their order: the service draws on the first one first. */
function draw(grants: readonly LiveGrant[], surface: Surface, requests: number): LiveGrant[] {
  let rest = requests;
  return grants.map((grant) => {
    if (grant.surface !== surface) return grant;
    const taken = Math.min(rest, grant.remaining);
    rest -= taken;
    return { ...grant, remaining: grant.remaining - taken };
  });
}

function withRemaining({ limit }: SurfaceLimits["key"], remaining: number): SurfaceLimits["key"] {
  return { limit, remaining, used: Math.max(0, limit - remaining) };
}

/** Returns the remaining requests by policy, from `"account-create";r=190;t=812, "key-create";r=90;t=812`. */
export function parseRateLimit(header: string): Map<string, number> {
  const items = header.matchAll(/"([\w-]+)"[^,]*?;r=(\d+)/g);
  return new Map([...items].map(([, policy = "", left = ""]) => [policy, Number(left)]));
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
