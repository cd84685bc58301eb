import type { DocumentState } from "../candidates/document-schema.ts";
import type { ReferenceState } from "../candidates/reference-schema.ts";
import { LABELS } from "./labels.ts";
import { MISSING, SENTENCES } from "./sentences.ts";

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

/** The languages in which the PDF is printed, in the order of the columns of labels.ts. */
export const LANGUAGES = ["en", "de", "fr", "es", "nl"] as const;

/** Returns the language in which the PDF is printed if the assistant's is `tag`: de-CH gives de. Without any, English. */
export function printedIn(tag: string): string {
  const [primary] = tag.toLowerCase().split("-");
  return LANGUAGES.find((language) => language === primary) ?? "en";
}

const TEXTS = { ...LABELS, ...SENTENCES };

/** Identifies all fixed texts, as part of the layout. */
export const WORDS = JSON.stringify([TEXTS, MISSING]);

export type Wording = ReturnType<typeof wordingOf>;

/** Returns what the PDF says in one of LANGUAGES. */
export function wordingOf(language: string) {
  const column = Math.max(
    0,
    LANGUAGES.findIndex((each) => each === language),
  );
  const locale = language === "en" ? "en-GB" : language;
  const date = { year: "numeric", month: "short", day: "numeric", timeZone: "UTC" } as const;
  const time = {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
  } as const;
  const days = new Intl.DateTimeFormat(locale, date);
  const moments = new Intl.DateTimeFormat(locale, { ...date, ...time });
  const formatted = (stamp: string | null, format: Intl.DateTimeFormat) =>
    stamp === null ? NONE : format.format(new Date(stamp));
  const measure = (size: number, unit: string, digits: number, unitDisplay: "short" | "long") =>
    size.toLocaleString(locale, {
      style: "unit",
      unit,
      unitDisplay,
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
  const fill = (text: string, values: readonly string[]) =>
    text.replace(/\{(\d)\}/g, (_, place: string) => values[Number(place)] ?? "");
  return {
    say: (text: keyof typeof TEXTS, ...values: readonly string[]) => fill(TEXTS[text][column] ?? "", values),

    /** Returns what is missing, or undefined if there are no words for the code. */
    missing: (code: string, ...values: readonly string[]) => {
      const text = new Map<string, readonly string[]>(Object.entries(MISSING)).get(code)?.[column];
      return text === undefined ? undefined : fill(text, values);
    },

    number: (value: number) => value.toLocaleString(locale),

    /** Formats a calendar date. */
    day: (on: string | null) => formatted(on, days),

    /** Formats a timestamp, to the second, in UTC. In a narrow column the line ends after the date. */
    moment: (at: string | null) => formatted(at, moments).replace(/\sUTC$/, "\u00A0UTC"),

    /** Formats a size for people, and exactly: `1.2 MB (1,234,567 bytes)`. */
    bytes: (size: number) => {
      const exact = measure(size, "byte", 0, "long");
      if (size < 1000) return exact;
      const units = ["kilobyte", "megabyte", "gigabyte"] as const;
      const power = Math.min(Math.floor(Math.log10(size) / 3), units.length);
      return `${measure(size / 1000 ** power, units[power - 1] ?? "byte", 1, "short")} (${exact})`;
    },
  };
}
