import { problem } from "../problems.ts";
import type { CandidateRecord } from "./record.ts";
import type { ListQuery } from "./schema.ts";

/** Stored with the words, so that a later version can tell by which rules they were made. */
const WORDS_FORM = 1;

/** Maximum number of a candidate's words that are searched, and of their first characters. They bound the index. */
const MAX_WORDS = 40;
const MAX_CHARACTERS = 16;

/** Letters that have no decomposition in Unicode, as people type them without their keyboard. */
const LETTERS = { ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ı: "i", ς: "σ" };
const PLAIN: Readonly<Record<string, string>> = LETTERS;
const PLAINER = new RegExp(`[${Object.keys(PLAIN).join("")}]`, "g");

/** Returns the different words of a text: its runs of letters and digits, in lower case, without accents, cut to 16 characters. */
export function wordsOf(text: string): string[] {
  const bare = text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const words = bare.replace(PLAINER, (letter) => PLAIN[letter] ?? letter).match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.map((word) => Array.from(word).slice(0, MAX_CHARACTERS).join("")))];
}

/** What a search looks for in a stored candidate. */
export interface Searchable {
  /** WORDS_FORM. Null or absent if the words are missing. */
  words_form: number | null;
  /** Every beginning of every word, so that a search is an equality: MongoDB and the stand-in find that by an index. */
  words: string[];
}

type Named = Pick<CandidateRecord, "name" | "first_name" | "last_name" | "email" | "external_id">;

/** Returns the words by which a candidate is found. An erased one has none. */
export function searchable(named: Partial<Named>): Searchable {
  const { name, first_name, last_name, email, external_id } = named;
  const text = [name, first_name, last_name, external_id, email].filter(Boolean).join(" ");
  const beginnings = wordsOf(text)
    .slice(0, MAX_WORDS)
    .map((word) => Array.from(word))
    .flatMap((characters) => characters.map((_, n) => characters.slice(0, n + 1).join("")));
  return { words_form: WORDS_FORM, words: [...new Set(beginnings)] };
}

/**
 * Returns the words that a search asks for.
 * @param query the query of its request, without `limit`.
 * @throws problem invalid_query
 */
export function searchedWords(q: string, query: Omit<ListQuery, "limit">): string[] {
  const clash = Object.entries(query).find(([name, value]) => name !== "q" && value)?.[0];
  const words = wordsOf(q);
  if (clash === undefined && words.length > 0) return words;
  const [pointer, detail] =
    clash === undefined ? ["/q", "must have a letter or digit"] : [`/${clash}`, "must not be sent with q"];
  throw problem("invalid_query", `${pointer.slice(1)} ${detail}.`, { errors: [{ pointer, detail }] });
}
