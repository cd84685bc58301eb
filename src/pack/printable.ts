import { shown } from "../schema/visible-text.ts";

/** First Strong Isolate and its end (UAX #9, 2.4). The text between them has its own direction. */
const ISOLATE = "\u2068";
const END_ISOLATE = "\u2069";

/** What turns text around. The other marks of direction, which phones put around names, are left out. */
const REORDERING = /[\u202D\u202E]/g;
/** Control characters, and code points that Unicode guarantees never to be characters. */
const UNPRINTABLE = /[\p{Cc}\p{Noncharacter_Code_Point}]/gu;
/** Matches more marks than any script puts on a letter. The typesetter's memory grows with the square of their number. */
const EXCESSIVE_MARKS = /(\p{M}{20})\p{M}+/gu;

/** Matches words of 25 characters or more. They could run off the page, so they may be broken. */
const LONG_WORD = /[^\s\u200B]{25,}/gu;
/** Characters after which a word is broken between two letters without marks. */
const PLAIN_BREAK = 12;
/** Characters after which it is broken before any letter. An Indic syllable of 200 consonants ends the typesetter. */
const ANY_BREAK = 24;
const VISIBLE = /^[\p{L}\p{N}\p{P}\p{S}]/u;
const FLAG_HALF = /^\p{RI}/u;
const EMOJI_MODIFIER = /^\p{Emoji_Modifier}/u;

/**
 * Makes untrusted text safe to print, on one line or several. Unprintable characters become U+FFFD, no character can
 * change the direction of its surroundings, and long words can be broken. The JSON keeps the original text. Its time is
 * linear in the length of the text.
 */
export function printable(text: string): string {
  const lines = text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/);
  return lines.map(printableLine).join("\n");
}

/** Does the same for text of one line: a name, an address. */
export function printableLine(text: string): string {
  const whole = text
    .replace(/[\s\u0085]+/g, " ")
    .replace(UNPRINTABLE, "\uFFFD")
    .replace(REORDERING, "\uFFFD");
  const plain = shown(whole).replace(EXCESSIVE_MARKS, "$1\uFFFD").trim();
  if (plain === "") return "";
  return ISOLATE + plain.replace(LONG_WORD, withBreaks) + END_ISOLATE;
}

/**
 * Puts a break (zero width space) into a word about every 12 characters, not next to a mark, a joiner, a modifier or half
 * of a flag. Where every letter has one of these, it puts a break about every 24 characters, before a letter. One pass: a
 * regular expression would search again from every character of a word without a place.
 */
function withBreaks(word: string): string {
  let broken = "";
  let sinceBreak = 0;
  let mayBreakAfter = false;
  for (const character of word) {
    const whole = VISIBLE.test(character) && !FLAG_HALF.test(character);
    const mayBreakBefore = whole && !EMOJI_MODIFIER.test(character);
    if (mayBreakBefore && sinceBreak >= (mayBreakAfter ? PLAIN_BREAK : ANY_BREAK)) {
      broken += "\u200B";
      sinceBreak = 0;
    }
    broken += character;
    sinceBreak++;
    mayBreakAfter = whole;
  }
  return broken;
}
