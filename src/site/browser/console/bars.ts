import type { SurfaceLimits } from "../../../limits/schema.ts";
import type { Surface } from "../../../limiter/surfaces.ts";
import { msToReset, type Reading, surfaceOf } from "./limits.ts";
import { count, shortId } from "./text.ts";

/** A part of a window, and who spent it. */
export interface Share {
  readonly who: string;
  readonly used: number;
  /** Position of the key among those of this tab; undefined for keys that are not entered here. */
  readonly index: number | undefined;
}

export interface Bar {
  readonly label: string;
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  readonly level: "calm" | "near" | "spent";
  readonly shares: readonly Share[];
}

/** A surface with the window of the account and those of the keys of this tab. */
export interface SurfaceBars {
  readonly surface: Surface;
  readonly account: Bar;
  readonly keys: readonly Bar[];
  readonly resetMs: number;
}

/** A window is shown as nearly spent when at most this part of it is left. */
const NEAR = 0.2;

/**
 * Returns the bars of every surface.
 * @param readings of keys of one account, the tab's own key first. A reading of an earlier window than the newest says
 * nothing about this one, and is left out.
 */
export function barsOf(readings: readonly Reading[], now: number): SurfaceBars[] {
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
    return {
      surface,
      account: barOf(
        "Account",
        account,
        [...known, others].filter(({ used }) => used > 0),
      ),
      keys: keys.map(({ who, index, own }) =>
        barOf(index === 0 ? "This key" : who, own.key, [{ who, index, used: own.key.used }]),
      ),
      resetMs: msToReset(newest, surface, now),
    };
  });
}

function barOf(label: string, { limit, used, remaining }: SurfaceLimits["key"], shares: Share[]): Bar {
  const level = remaining === 0 ? "spent" : remaining <= limit * NEAR ? "near" : "calm";
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

/**
 * Returns what changed between two pictures that a person who does not see the bars should hear: a window that was spent, and
 * the restart of the windows. Empty if nothing did.
 */
export function newsOf(before: readonly SurfaceBars[], after: readonly SurfaceBars[]): string {
  const news = after.flatMap(({ surface, account, keys }, index) => {
    const old = before[index];
    if (old === undefined) return [];
    const pairs = [
      [old.account, account] as const,
      ...keys.map((bar) => [old.keys.find(({ label }) => label === bar.label), bar] as const),
    ];
    return pairs.flatMap(([was, is]) => {
      if (was !== undefined && was.level !== "spent" && is.level === "spent")
        return [`${is.label}: no ${surface} requests are left.`];
      if (was?.level === "spent" && is.level !== "spent")
        return [`${is.label}: ${count(is.remaining)} ${surface} requests are left again.`];
      return [];
    });
  });
  return news.join(" ");
}
