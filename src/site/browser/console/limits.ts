import type { Limits, SurfaceLimits } from "../../../limits/schema.ts";
import type { Surface } from "../../../limiter/surfaces.ts";
import { count, shortId } from "./text.ts";

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

/**
 * Says what the next request on a surface costs, by the last reading of the limits; undefined before the first. `left`: the
 * requests that are left in the window, or else in the grants; 0 if the next one would be refused.
 */
export function costOf(reading: Reading | undefined, surface: Surface) {
  const quotas = reading && surfaceOf(reading.limits, surface);
  if (reading === undefined || quotas === undefined) return undefined;
  const { account, key } = quotas;
  const left = Math.min(account.remaining, key.remaining);
  if (left > 0) return { left, text: `Costs 1 ${requestOf(surface)}. ${count(left)} left.` };
  const grants = reading.limits.grants.filter((grant) => grant.surface === surface);
  const granted = grants.reduce((total, { remaining }) => total + remaining, 0);
  const ofGrant = `Costs 1 ${requestOf(surface)} from your grant. ${count(granted)} left.`;
  if (granted > 0) return { left: granted, text: ofGrant };
  const spent = account.remaining === 0 ? "The account" : "This key";
  return { left: 0, text: `${spent} has no ${requestOf(surface)}s left.` };
}

/** Names a request of a surface, as in "Costs 1 read". */
export function requestOf(surface: Surface): string {
  return surface === "reads" ? "read" : `${surface} request`;
}

/** A part of a window, and who spent it. */
export interface Share {
  readonly who: string;
  readonly used: number;
  /** Position of the key among those of this tab; undefined for keys that are not entered here. */
  readonly index: number | undefined;
}

export type Bar = ReturnType<typeof barOf>;

/** A surface with the window of the account and those of the keys of this tab. */
export type SurfaceBars = ReturnType<typeof barsOf>[number];

/** A window is shown as nearly spent when at most this part of it is left. */
const NEAR = 0.2;

/**
 * Returns the bars of every surface.
 * @param readings of keys of one account, the tab's own key first. A reading of an earlier window than the newest says
 * nothing about this one, and is left out.
 */
export function barsOf(readings: readonly Reading[], now: number) {
  const newest = readings.toSorted((a, b) => a.at - b.at).at(-1);
  if (newest === undefined) return [];
  return newest.limits.surfaces.map((latest) => {
    const { surface, account, reset_at } = latest;
    const keys = readings.flatMap(({ limits }, index) => {
      const own = surfaceOf(limits, surface);
      return own === undefined || own.reset_at !== reset_at ? [] : [{ who: keyName(limits.key_id, index), index, own }];
    });
    const known = keys.map(({ who, index, own }) => ({ who, index, used: own.key.used }));
    const ofOthers = known.reduce((rest, { used }) => rest - used, account.used);
    const others = { who: "other keys", index: undefined, used: Math.max(0, ofOthers) };
    const spent = [...known, others].filter(({ used }) => used > 0);
    return {
      surface,
      account: barOf("Account", account, spent),
      keys: keys.map(({ who, index, own }) =>
        barOf(index === 0 ? "This key" : who, own.key, [{ who, index, used: own.key.used }]),
      ),
      resetMs: msToReset(newest, surface, now),
    };
  });
}

function barOf(label: string, { limit, used, remaining }: SurfaceLimits["key"], shares: readonly Share[]) {
  const level: "calm" | "near" | "spent" = remaining === 0 ? "spent" : remaining <= limit * NEAR ? "near" : "calm";
  return { label, limit, used, remaining, level, shares };
}

/** Says who spent an account's window; an empty text if nobody did. */
export function spentBy({ shares }: Bar): string {
  return shares.map(({ who, used }) => `${who} ${count(used)}`).join(", ");
}

/** Returns how the page calls a key: the public API knows its id, not its name. */
export function keyName(keyId: string, index: number): string {
  return index === 0 ? "this key" : shortId(keyId);
}

const barsIn = (all: readonly SurfaceBars[]) =>
  all.flatMap(({ surface, account, keys }) => [account, ...keys].map((bar) => ({ ...bar, surface })));

/**
 * Returns what changed between two pictures that a person who does not see the bars should hear: a window that was spent, and
 * the restart of the windows. Empty if nothing did.
 */
export function newsOf(before: readonly SurfaceBars[], after: readonly SurfaceBars[]): string {
  const levels = new Map(barsIn(before).map(({ label, surface, level }) => [`${label} ${surface}`, level]));
  const news = barsIn(after).flatMap(({ label, surface, level, remaining }) => {
    const was = levels.get(`${label} ${surface}`);
    if (was === undefined || (was === "spent") === (level === "spent")) return [];
    const left = level === "spent" ? "no" : count(remaining);
    return [`${label}: ${left} ${surface} requests are left${level === "spent" ? "" : " again"}.`];
  });
  return news.join(" ");
}
