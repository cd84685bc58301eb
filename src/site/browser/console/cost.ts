import type { Surface } from "../../../limiter/surfaces.ts";
import { grantedFor, type Reading, surfaceOf } from "./reading.ts";
import { count } from "./text.ts";

/** What one request on a surface costs, by the last reading of the limits. */
export interface Cost {
  readonly surface: Surface;
  /** What the next request would be charged to; `nothing` if it would be refused. */
  readonly from: "window" | "grant" | "nothing";
  /** Requests that are left there. */
  readonly left: number;
  /** Which window is spent, the one that the service would name. Undefined while neither is. */
  readonly spent: "account" | "key" | undefined;
}

/** Returns what the next request on a surface costs; undefined before the first reading. */
export function costOf(reading: Reading | undefined, surface: Surface): Cost | undefined {
  const quotas = reading === undefined ? undefined : surfaceOf(reading.limits, surface);
  if (reading === undefined || quotas === undefined) return undefined;
  const { account, key } = quotas;
  const spent = account.remaining === 0 ? "account" : key.remaining === 0 ? "key" : undefined;
  if (spent === undefined) return { surface, from: "window", left: Math.min(account.remaining, key.remaining), spent };
  const granted = grantedFor(reading.limits, surface);
  return { surface, from: granted > 0 ? "grant" : "nothing", left: granted, spent };
}

export function costInWords({ surface, from, left, spent }: Cost): string {
  if (from === "window") return `Costs 1 ${surface} request. ${count(left)} left.`;
  if (from === "grant") return `Costs 1 ${surface} request from your grant. ${count(left)} left.`;
  return spent === "account"
    ? `The account has no ${surface} requests left.`
    : `This key has no ${surface} requests left.`;
}
