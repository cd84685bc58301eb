import type { Candidate } from "../../../candidates/schema.ts";
import { shown } from "../../../schema/visible-text.ts";

/** Returns a text with its control characters made visible, and without what hides or turns around other text. */
export function visible(text: string): string {
  return shown(text.replace(/\p{Cc}/gu, pictureOf));
}

/** Like `visible`, but line feeds and tabs stay what they are: for texts of several lines. */
export function visibleLines(text: string): string {
  return shown(text.replaceAll("\r\n", "\n").replace(/(?![\n\t])\p{Cc}/gu, pictureOf));
}

/** U+2400 and on are pictures of the first 32 control characters. */
function pictureOf(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}

/** A visible character: not white space, not a control or format character, and not only a combining mark. */
const SEEN = /[^\p{Z}\p{C}\p{M}]/u;

type Named = Pick<Candidate, "id" | "external_id" | "name" | "first_name" | "last_name">;

/** Returns what a person calls the candidate: its name, its external id, or else its id. Never an invisible text. */
export function nameOf({ id, external_id, name, first_name, last_name }: Named): string {
  const parts = [first_name, last_name].filter((part) => part !== null).join(" ");
  const found = [name, parts, external_id].find((text) => text !== null && SEEN.test(text));
  return visible(found ?? id);
}

/** Returns the words of a name of the API: `action required` for `action_required`. */
export function words(name: string): string {
  return name.replaceAll("_", " ");
}

/** Returns an id that fits a narrow line. The end tells ids of one minute apart, their beginning is the same. */
export function shortId(id: string): string {
  const [type = "", rest = ""] = id.split("_");
  return rest.length <= 8 ? id : `${type}_…${rest.slice(-6)}`;
}

export function count(value: number): string {
  return value.toLocaleString("en");
}

export function bytes(size: number): string {
  if (size < 1000) return `${size} bytes`;
  if (size < 1_000_000) return `${(size / 1000).toFixed(size < 10_000 ? 1 : 0)} kB`;
  return `${(size / 1_000_000).toFixed(1)} MB`;
}

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
export function timeInWords(ms: number): string {
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
