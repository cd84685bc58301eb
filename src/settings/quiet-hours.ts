import { Temporal } from "temporal-polyfill";
import { timestamp } from "../infra/clock.ts";
import { type Effective, type QuietHours, WEEKDAYS } from "./schema.ts";

// Temporal (the coming standard; the polyfill steps aside where the runtime has it) says which of two instants a repeated
// time of day is, and where the clock jumps over one. Luxon silently decides both.

/** Windows come back every week; a spell that goes on for so many days never ends. */
const HORIZON_DAYS = 30;

/** Starts and ends are given to the minute. */
const MINUTE = { minutes: 1 };

/** From `start` on and until just before `end`, in milliseconds since the epoch; `Infinity` where it never ends. */
interface Spell {
  readonly start: number;
  readonly end: number;
}

/**
 * What quiet hours come to at a moment. Pure. It is quiet from the first instant at which the local clock shows `start` or
 * later, until the last instant at which it shows less than `end`. So where the clocks are changed:
 * - a start or an end that the clock jumps over is the moment of the jump (a window wholly inside does not take place);
 * - of a time that comes twice a start is the first, an end the second: quiet is never cut short. But an end to which the clock
 *   is set back, and not beyond, is the first.
 *
 * A window whose end is not after its start ends on the next day, so that equal ones make a whole day; it belongs to the day
 * on which it starts. A day that the zone left out (Apia, 2011-12-30) starts none, and the day before goes on into the one
 * after. Windows that touch are one.
 * @param now milliseconds since the epoch.
 */
export function effectiveAt(settings: QuietHours, now: number): Effective {
  if (!settings.enabled) return { quiet_now: false, next_start: null, next_end: null };
  const ahead = spellsFrom(settings, now);
  const first = ahead.next().value;
  const quiet_now = first !== undefined && first.start <= now;
  const next = quiet_now ? ahead.next().value : first;
  return { quiet_now, next_start: rendered(next?.start), next_end: rendered(first?.end) };
}

function rendered(epochMs = Infinity): string | null {
  return epochMs === Infinity ? null : timestamp(epochMs);
}

/** The spells that have not ended at `now`, in order. */
function* spellsFrom(settings: QuietHours, now: number): Generator<Spell, undefined> {
  const wanted = new Set(settings.days.map((day) => WEEKDAYS.indexOf(day) + 1));
  let spell: Spell | undefined;
  for (const day of daysAround(now, settings.timezone)) {
    if (!wanted.has(day.dayOfWeek)) continue;
    const window = windowOf(day, settings);
    if (window.start >= window.end || window.end <= now) continue;
    if (spell !== undefined && window.start > spell.end) {
      yield spell;
      spell = undefined;
    }
    spell = { start: spell?.start ?? window.start, end: Math.max(spell?.end ?? 0, window.end) };
  }
  if (spell !== undefined) yield { ...spell, end: Infinity };
  return undefined;
}

/** The days of the zone's calendar, from before any window that may still be open at `now`. */
function* daysAround(now: number, timezone: string): Generator<Temporal.PlainDate> {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDate();
  let day = existing(today.subtract({ days: 2 }), timezone);
  for (let count = 0; count < HORIZON_DAYS; count++) {
    yield day;
    day = existing(day.add({ days: 1 }), timezone);
  }
}

function windowOf(day: Temporal.PlainDate, { timezone, start, end }: QuietHours): Spell {
  const lastDay = end > start ? day : existing(day.add({ days: 1 }), timezone);
  const first = day.toPlainDateTime(start);
  const last = lastDay.toPlainDateTime(end).subtract(MINUTE);
  return {
    start: shown(first, timezone, "earlier")?.epochMilliseconds ?? jumpOver(first, timezone),
    end: shown(last, timezone, "later")?.add(MINUTE).epochMilliseconds ?? jumpOver(last, timezone),
  };
}

/** The day itself, or the next one that the zone did not leave out. */
function existing(day: Temporal.PlainDate, timezone: string): Temporal.PlainDate {
  return day.toZonedDateTime(timezone).toPlainDate();
}

/** When the local clock shows that time, and which of two such moments; undefined where it never does. */
function shown(
  time: Temporal.PlainDateTime,
  timezone: string,
  ofTwo: "earlier" | "later",
): Temporal.ZonedDateTime | undefined {
  const found = time.toZonedDateTime(timezone, { disambiguation: ofTwo });
  return found.toPlainDateTime().equals(time) ? found : undefined;
}

/** The moment at which the local clock jumps over a time that it never shows. */
function jumpOver(time: Temporal.PlainDateTime, timezone: string): number {
  const before = time.toZonedDateTime(timezone, { disambiguation: "earlier" });
  return (before.getTimeZoneTransition("next") ?? before).epochMilliseconds;
}
