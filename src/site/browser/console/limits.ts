import type { Limits, SurfaceLimits } from "../../../limits/schema.ts";
import type { Surface } from "../../../limiter/surfaces.ts";
import { count } from "./text.ts";

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

/** What one request on a surface costs, by the last reading of the limits. */
export interface Cost {
  /** What the next request would be charged to; `nothing` if it would be refused. */
  readonly from: "window" | "grant" | "nothing";
  /** Requests that are left there. */
  readonly left: number;
  readonly text: string;
}

/** Returns what the next request on a surface costs; undefined before the first reading. */
export function costOf(reading: Reading | undefined, surface: Surface): Cost | undefined {
  const quotas = reading && surfaceOf(reading.limits, surface);
  if (reading === undefined || quotas === undefined) return undefined;
  const { account, key } = quotas;
  const left = Math.min(account.remaining, key.remaining);
  if (left > 0) return { from: "window", left, text: `Costs 1 ${surface} request. ${count(left)} left.` };
  const granted = reading.limits.grants
    .filter((grant) => grant.surface === surface)
    .reduce((total, { remaining }) => total + remaining, 0);
  if (granted > 0) {
    const text = `Costs 1 ${surface} request from your grant. ${count(granted)} left.`;
    return { from: "grant", left: granted, text };
  }
  const spent = account.remaining === 0 ? "The account" : "This key";
  return { from: "nothing", left: 0, text: `${spent} has no ${surface} requests left.` };
}
