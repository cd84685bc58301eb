import type { DocumentState } from "../candidates/document-schema.ts";
import type { ReferenceState } from "../candidates/reference-schema.ts";
import type { CandidateState } from "../candidates/schema.ts";
import type { MESSAGE_LANGUAGES } from "../schema/languages.ts";
import WORDING from "./wording.json" with { type: "json" };

export const NONE = "—";

/** The colour of a state's badge, by its meaning. */
export type Tone = "settled" | "open" | "trouble" | "aside";

const SHARED = { requested: "open", waived: "aside", cancelled: "aside" } as const;

export const DOCUMENT_TONES: Record<DocumentState, Tone> = {
  ...SHARED,
  pending: "open",
  received: "open",
  accepted: "settled",
  rejected: "trouble",
  expired: "trouble",
};

export const REFERENCE_TONES: Record<ReferenceState, Tone> = {
  ...SHARED,
  not_requested: "open",
  received: "settled",
  declined: "trouble",
  bounced: "trouble",
  unresponsive: "trouble",
};

/** Names a text in wording.json. */
export type Key = keyof typeof WORDING;
type Texts = Readonly<Record<(typeof MESSAGE_LANGUAGES)[number], string>>;
type Needed = `document_${DocumentState}` | `reference_${ReferenceState}` | `candidate_${CandidateState}`;
const TEXTS: Readonly<Record<Key | Needed, Texts>> = WORDING;

export type Wording = ReturnType<typeof wordingIn>;

/** Returns what the PDF says in a language, and its numbers and dates. */
export function wordingIn(language: keyof Texts) {
  const words = Object.fromEntries(Object.entries(TEXTS).map(([key, texts]) => [key, texts[language]]));
  const locale = language === "en" ? "en-GB" : language;
  const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" });
  const moment = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "long", timeZone: "UTC" });
  const formatted = (date: string | null, format: Intl.DateTimeFormat) =>
    date === null ? NONE : format.format(new Date(date));
  const measure = (value: number, unit: string, digits: number) => {
    const unitDisplay = unit === "byte" ? "long" : "short";
    const precision = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    return value.toLocaleString(locale, { style: "unit", unit, unitDisplay, ...precision });
  };
  return {
    words,
    say: (key: Key | `missing_${string}`, ...values: string[]) =>
      (words[key] ?? "").replace(/\{(\d)\}/g, (_, place: string) => values[Number(place)] ?? ""),
    number: (value: number) => value.toLocaleString(locale),
    day: (date: string | null) => formatted(date, day),
    /** Formats a timestamp to the second, in UTC. */
    moment: (at: string | null) => formatted(at, moment).replace(/\sUTC$/, "\u00A0UTC"),
    /** Formats a size exactly, too: `1.2 MB (1,234,567 bytes)`. */
    bytes: (size: number) => {
      const exact = measure(size, "byte", 0);
      if (size < 1000) return exact;
      const units = ["kilobyte", "megabyte", "gigabyte"] as const;
      const power = Math.min(Math.floor(Math.log10(size) / 3), units.length);
      return `${measure(size / 1000 ** power, units[power - 1] ?? "byte", 1)} (${exact})`;
    },
  };
}
