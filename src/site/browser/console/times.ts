const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Returns a time to wait as a clock shows it: `59:04`, or `23:10:05` from an hour on. Rounded up to a second. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / SECOND));
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const tail = `${String(m).padStart(2, "0")}:${String(s).padStart(2, "0")}`;
  return h > 0 ? `${h}:${tail}` : tail;
}

/** Returns a time to wait in words, rounded up: `12 seconds`, `4 minutes`, `3 hours`. For what is read aloud. */
export function inWords(ms: number): string {
  const [amount, unit] = inUnits(ms);
  return Math.ceil(amount).toLocaleString("en", { style: "unit", unit, unitDisplay: "long" });
}

const AGO = new Intl.RelativeTimeFormat("en", { style: "short" });

/** Returns how long ago something was, rounded down. */
export function ago(ms: number): string {
  if (ms < 2 * SECOND) return "just now";
  const [amount, unit] = inUnits(ms);
  return AGO.format(-Math.floor(amount), unit);
}

function inUnits(ms: number): [amount: number, unit: "second" | "minute" | "hour" | "day"] {
  if (ms < 2 * MINUTE) return [ms / SECOND, "second"];
  if (ms < 2 * HOUR) return [ms / MINUTE, "minute"];
  return ms < 2 * DAY ? [ms / HOUR, "hour"] : [ms / DAY, "day"];
}

/** Returns the time of day, in the time zone of the process: `09:05:07`. Swedish writes times as ISO 8601 does. */
export function clockTime(time: Date): string {
  return time.toLocaleTimeString("sv");
}

/** Returns date and time to the minute, in the time zone of the process: `2027-01-31 09:05`. */
export function dateTime(time: Date): string {
  return time.toLocaleString("sv", { dateStyle: "short", timeStyle: "short" });
}
