import type { Words } from "./en.ts";

/** Units of a file's size, and their bytes. */
const UNITS = { megabyte: 1024 ** 2, kilobyte: 1024 };

/** English dates have the day before the month, as those of the other languages. */
function localeOf({ language }: Words): string {
  return language === "en" ? "en-GB" : language;
}

/** Returns a day in UTC: "28 May 2027". @param at RFC 3339. */
export function dateIn(words: Words, at: string): string {
  const date = new Date(at).toLocaleDateString(localeOf(words), { dateStyle: "long", timeZone: "UTC" });
  return words.language === "fr" ? date.replace(/^1 /, "1er ") : date;
}

export function numberIn(words: Words, value: number): string {
  return new Intl.NumberFormat(localeOf(words)).format(value);
}

/** Returns the size of a file, rounded down: "2.1 MB", "12 kB", "9 bytes". Its space does not break. */
export function sizeIn(words: Words, bytes: number): string {
  const [unit, of] = Object.entries(UNITS).find(([, size]) => bytes >= size) ?? ["byte", 1];
  const unitDisplay = unit === "byte" ? "long" : "short";
  const format = new Intl.NumberFormat(localeOf(words), { style: "unit", unit, unitDisplay, maximumFractionDigits: 1 });
  return format.format(Math.floor((bytes / of) * 10) / 10).replaceAll(/\s/g, "\u00a0");
}
