import { type QuietHours, WEEKDAYS } from "../../src/settings/schema.ts";

const MINUTE = 60_000;

/**
 * A model of quiet hours that knows neither offsets nor clock changes. It lists what a wall clock shows at each minute, and
 * applies the rules of the documentation to that. It uses the time zones of Intl; the code under test uses Temporal.
 */
export class WallClock {
  /** Milliseconds since the epoch of the first minute. */
  readonly from: number;
  /** What the clock shows at each minute: `YYYY-MM-DD HH:MM`. */
  readonly #shows: string[];
  /** The local days that exist, in order, each with the indexes of its first and last minute. */
  readonly #days: [day: string, first: number, last: number][] = [];

  constructor(timezone: string, from: number, days: number) {
    this.from = from;
    const clock = new Intl.DateTimeFormat("sv-SE", { timeZone: timezone, dateStyle: "short", timeStyle: "short" });
    this.#shows = Array.from({ length: days * 24 * 60 }, (_, minute) => clock.format(from + minute * MINUTE));
    for (const [minute, shown] of this.#shows.entries()) {
      const today = this.#days.at(-1);
      if (today?.[0] === shown.slice(0, 10)) today[2] = minute;
      else this.#days.push([shown.slice(0, 10), minute, minute]);
    }
  }

  /** Returns for each minute whether it is quiet. Counts only windows that start on a day of the model. */
  quiet({ start, end, days }: Pick<QuietHours, "start" | "end" | "days">): boolean[] {
    const quiet = this.#shows.map(() => false);
    for (const [index, [day, firstMinute]] of this.#days.entries()) {
      const weekday = WEEKDAYS[(new Date(day).getUTCDay() + 6) % 7]!;
      const [lastDay, , lastMinute] = this.#days[end > start ? index : index + 1] ?? [];
      if (!days.includes(weekday) || lastMinute === undefined) continue;
      let first = firstMinute;
      while (first <= lastMinute && this.#shows[first]! < `${day} ${start}`) first++;
      let last = lastMinute;
      while (last >= first && this.#shows[last]! >= `${lastDay} ${end}`) last--;
      quiet.fill(true, first, last + 1);
    }
    return quiet;
  }

  /** Returns the index of the minute that a moment is in. */
  minuteOf(epochMs: number): number {
    return Math.floor((epochMs - this.from) / MINUTE);
  }

  /** Returns the next minute after this one at which `quiet` changes to `becomes`; undefined if that is beyond the model. */
  next(quiet: boolean[], minute: number, becomes: boolean): string | undefined {
    const found = quiet.findIndex((now, index) => index > minute && now === becomes && quiet[index - 1] !== becomes);
    return found === -1 ? undefined : new Date(this.from + found * MINUTE).toISOString();
  }
}
