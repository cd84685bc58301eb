import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import type { DocumentState } from "../candidates/document-schema.ts";
import type { ReferenceState } from "../candidates/reference-schema.ts";
import { MESSAGE_LANGUAGES } from "../schema/languages.ts";

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

/** Read once, at start. It stays in src/pack, whether this file runs from src/pack or from dist/chunks. */
export const WORDING = readFileSync(new URL("../../src/pack/wording.csv", import.meta.url));
const ROWS = parse<Record<string, string>>(WORDING, { columns: true });

const KEYS = [
  "pack title page complete incomplete missing nothing_missing documents no_documents references no_references",
  "references_summary abridged unprinted full_text more yes no nameless nameless_referee first_name last_name phone",
  "email job_title start_date started state reason external_id id made made_for added changed reminders reminded labels",
  "required expires uploaded size no_content rejection_reason filename content_type sha256 company relationship requested",
  "received answers answered candidate_created candidate_in_progress candidate_action_required candidate_completed",
  "candidate_withdrawn missing_nothing_asked_for missing_not_completed missing_references_missing missing_not_started",
  "missing_bounced missing_opted_out missing_without_email missing_requested missing_declined missing_unresponsive",
  "missing_document_requested missing_document_received missing_document_rejected missing_document_expired",
] as const;
type Split<Text> = Text extends `${infer First} ${infer Rest}` ? First | Split<Rest> : Text;
/** Names a text in wording.csv. */
export type Key = Split<(typeof KEYS)[number]> | `document_${DocumentState}` | `reference_${ReferenceState}`;

for (const key of [
  ...KEYS.flatMap((keys) => keys.split(" ")),
  ...Object.keys(DOCUMENT_TONES).map((state) => `document_${state}`),
  ...Object.keys(REFERENCE_TONES).map((state) => `reference_${state}`),
])
  for (const language of MESSAGE_LANGUAGES)
    if (!ROWS.find((row) => row["key"] === key)?.[language])
      throw new Error(`src/pack/wording.csv has no text for ${key} in ${language}.`);

export type Wording = ReturnType<typeof wordingIn>;

/** Returns what the PDF says in a language, and its numbers and dates. */
export function wordingIn(language: string) {
  const words: Readonly<Record<string, string>> = Object.fromEntries(
    ROWS.map(({ key = "", [language]: text = "" }) => [key, text]),
  );
  const locale = language === "en" ? "en-GB" : language;
  const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" });
  const moment = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "long", timeZone: "UTC" });
  const formatted = (date: string | null, format: Intl.DateTimeFormat) =>
    date === null ? NONE : format.format(new Date(date));
  const measure = (value: number, unit: string, digits: number) =>
    value.toLocaleString(locale, {
      style: "unit",
      unit,
      unitDisplay: unit === "byte" ? "long" : "short",
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
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
