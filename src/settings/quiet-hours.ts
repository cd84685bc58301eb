import { LRUCache } from "lru-cache";
import { Temporal } from "temporal-polyfill";
import { DAY_MS, timestamp } from "../infra/clock.ts";
import { timeZoneNamed } from "../schema/registered-names.ts";
import { type Effective, type QuietHours, WEEKDAYS } from "./schema.ts";

/** Windows repeat every week, so a quiet period that lasts this many days never ends. */
const HORIZON_DAYS = 30;

const MINUTE = { minutes: 1 };

/** Maximum number of days in memory, a few hundred bytes each. */
const MAX_DAYS = 2_000;

/** From `start` up to, but not including, `end`: milliseconds since the epoch. `end` is `Infinity` if it never ends. */
type Period = Readonly<{ start: number; end: number }>;

/**
 * Computes whether it is quiet now, and when quiet begins and ends next. Pure. decisions/2026-11-28-quiet-hours-and-clocks.md
 * says what happens when clocks change. In a time zone that this runtime does not know it is always quiet.
 * @param now milliseconds since the epoch.
 */
export function effectiveAt(settings: QuietHours, now: number): Effective {
  if (!settings.enabled) return { quiet_now: false, next_start: null, next_end: null };
  const periods = periodsFrom(settings, now);
  const first = periods.next().value;
  const quiet_now = first !== undefined && first.start <= now;
  const next = quiet_now ? periods.next().value : first;
  return { quiet_now, next_start: timestampOrNull(next?.start), next_end: timestampOrNull(first?.end) };
}

/**
 * Returns the end of the quiet period at `now`, in milliseconds since the epoch. `Infinity` if it never ends, undefined if
 * `now` is not in a quiet period. Every write of a candidate calls this, so it remembers the periods that it computes.
 * @param now milliseconds since the epoch.
 */
export function quietUntil(settings: QuietHours, now: number): number | undefined {
  if (!settings.enabled) return undefined;
  const { timezone, start, end, days } = settings;
  const day = Math.floor(now / DAY_MS);
  const key = `${day} ${timezone} ${start} ${end} ${days.join()}`;
  const periods = knownDays.get(key) ?? periodsOn(day, settings);
  knownDays.set(key, periods);
  return periods.find((period) => period.start <= now && now < period.end)?.end;
}

/** The quiet periods of a UTC day, by day and settings. */
const knownDays = new LRUCache<string, readonly Period[]>({ max: MAX_DAYS });

/** Returns the periods that have not ended when a UTC day begins, up to the first that ends after the day. */
function periodsOn(day: number, settings: QuietHours): Period[] {
  const periods: Period[] = [];
  for (const period of periodsFrom(settings, day * DAY_MS)) {
    periods.push(period);
    if (period.end > (day + 1) * DAY_MS) break;
  }
  return periods;
}

function timestampOrNull(epochMs = Infinity): string | null {
  return epochMs === Infinity ? null : timestamp(epochMs);
}

/** Yields the quiet periods that have not ended at `now`, in order. Each merges the windows that touch or overlap. */
function* periodsFrom(settings: QuietHours, now: number): Generator<Period, undefined> {
  if (timeZoneNamed(settings.timezone) === undefined) {
    yield { start: -Infinity, end: Infinity };
    return undefined;
  }
  const wanted = new Set(settings.days.map((day) => WEEKDAYS.indexOf(day) + 1));
  let period: Period | undefined;
  for (const day of daysAround(now, settings.timezone)) {
    if (!wanted.has(day.dayOfWeek)) continue;
    const window = windowOf(day, settings);
    if (window.start >= window.end || window.end <= now) continue;
    if (period !== undefined && window.start > period.end) {
      yield period;
      period = undefined;
    }
    period = { start: period?.start ?? window.start, end: Math.max(period?.end ?? 0, window.end) };
  }
  if (period !== undefined) yield { ...period, end: Infinity };
  return undefined;
}

/** Yields the days of the zone's calendar. Begins early enough for every window that may still be open at `now`. */
function* daysAround(now: number, timezone: string): Generator<Temporal.PlainDate> {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDate();
  let day = existingDay(today.subtract({ days: 2 }), timezone);
  for (let count = 0; count < HORIZON_DAYS; count++) {
    yield day;
    day = existingDay(day.add({ days: 1 }), timezone);
  }
}

function windowOf(day: Temporal.PlainDate, { timezone, start, end }: QuietHours): Period {
  const lastDay = end > start ? day : existingDay(day.add({ days: 1 }), timezone);
  const first = day.toPlainDateTime(start);
  const last = lastDay.toPlainDateTime(end).subtract(MINUTE);
  return {
    start: instantShowing(first, timezone, "earlier")?.epochMilliseconds ?? instantOfJump(first, timezone),
    end: instantShowing(last, timezone, "later")?.add(MINUTE).epochMilliseconds ?? instantOfJump(last, timezone),
  };
}

/** Returns the day itself, or the next one if the time zone skipped it. */
function existingDay(day: Temporal.PlainDate, timezone: string): Temporal.PlainDate {
  return day.toZonedDateTime(timezone).toPlainDate();
}

/** Returns the instant at which the local clock shows `time`. `ofTwo` chooses if it occurs twice. Undefined if it is skipped. */
function instantShowing(time: Temporal.PlainDateTime, timezone: string, ofTwo: "earlier" | "later") {
  const found = time.toZonedDateTime(timezone, { disambiguation: ofTwo });
  return found.toPlainDateTime().equals(time) ? found : undefined;
}

/** Returns the instant at which the local clock jumps over `time`, which it never shows. */
function instantOfJump(time: Temporal.PlainDateTime, timezone: string): number {
  const before = time.toZonedDateTime(timezone, { disambiguation: "earlier" });
  return (before.getTimeZoneTransition("next") ?? before).epochMilliseconds;
}
