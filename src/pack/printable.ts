/** First Strong Isolate and its end (UAX #9, 2.4): the text between reads in its own direction, whatever surrounds it. */
const ISOLATE = "\u2068";
const END_ISOLATE = "\u2069";

/** What shows nothing itself but changes how its surroundings show; LRM, RLM and ALM are harmless and stay. */
const REORDERING = /[\u202A-\u202E\u2066-\u2069]/g;
/** Also the line and paragraph separators, and what Unicode promises never to be a character. */
const UNPRINTABLE = /[\p{Cc}\p{Noncharacter_Code_Point}]/gu;

/** Longer words than this may be broken anywhere but within a character: they would run off the page. */
const LONG_WORD = /[^\s\u200B]{25,}/gu;
/** A place in a long word where nothing is torn: no mark, joiner, modifier or half of a flag is near. Every 12 or so. */
const BREAK =
  /.{12}.*?(?<=[\p{L}\p{N}\p{P}\p{S}])(?<!\p{RI})(?=[\p{L}\p{N}\p{P}\p{S}])(?!\p{RI}|\p{Emoji_Modifier})/gsu;

/**
 * A stranger's text as the paper may show it, on one line or several: what cannot be printed is shown as U+FFFD, nothing can
 * turn its surroundings around, and a long word can be broken. The text in the JSON stays as it is.
 */
export function printable(text: string): string {
  const lines = text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/);
  return lines.map(printableLine).join("\n");
}

/** The same for what is one line: a name, an address. */
export function printableLine(text: string): string {
  const plain = text
    .replace(/[\s\u0085]+/g, " ")
    .replace(UNPRINTABLE, "\uFFFD")
    .replace(REORDERING, "\uFFFD")
    .trim();
  if (plain === "") return "";
  return ISOLATE + plain.replace(LONG_WORD, (word) => word.replace(BREAK, "$&\u200B")) + END_ISOLATE;
}
