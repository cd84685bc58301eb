/** First Strong Isolate and its end (UAX #9, 2.4). The text between them has its own direction. */
const ISOLATE = "\u2068";
const END_ISOLATE = "\u2069";

/** Invisible characters that change the direction of their surroundings. LRM, RLM and ALM are harmless and are kept. */
const REORDERING = /[\u202A-\u202E\u2066-\u2069]/g;
/** Control characters, and code points that Unicode guarantees never to be characters. */
const UNPRINTABLE = /[\p{Cc}\p{Noncharacter_Code_Point}]/gu;

/** Matches words of 25 characters or more. They could run off the page, so they may be broken at any `BREAK`. */
const LONG_WORD = /[^\s\u200B]{25,}/gu;
/**
 * Finds a place for a break, about every 12 characters, that is not next to a mark, joiner, modifier or half of a flag.
 */
const BREAK =
  /.{12}.*?(?<=[\p{L}\p{N}\p{P}\p{S}])(?<!\p{RI})(?=[\p{L}\p{N}\p{P}\p{S}])(?!\p{RI}|\p{Emoji_Modifier})/gsu;

/**
 * Makes untrusted text safe to print, on one line or several. Unprintable characters become U+FFFD, no character can
 * change the direction of its surroundings, and long words can be broken. The JSON keeps the original text.
 */
export function printable(text: string): string {
  const lines = text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/);
  return lines.map(printableLine).join("\n");
}

/** Does the same for text of one line: a name, an address. */
export function printableLine(text: string): string {
  const plain = text
    .replace(/[\s\u0085]+/g, " ")
    .replace(UNPRINTABLE, "\uFFFD")
    .replace(REORDERING, "\uFFFD")
    .trim();
  if (plain === "") return "";
  return ISOLATE + plain.replace(LONG_WORD, (word) => word.replace(BREAK, "$&\u200B")) + END_ISOLATE;
}
