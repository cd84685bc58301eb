/**
 * From no abridging to the most: the maximum weight of one text, and the maximum number of answers of one reference. A PDF has
 * the first one that keeps it within `BUDGET`.
 */
const LEVELS = [
  { text: Infinity, answers: 1000 },
  { text: 4000, answers: 200 },
  { text: 1500, answers: 60 },
  { text: 500, answers: 15 },
  { text: 80, answers: 2 },
];

/** Maximum weight of all texts, except at the last level. An English letter weighs 1: up to 5 µs of CPU time, and 300 bytes. */
const BUDGET = 300_000;

/** Weight of a line in a table, whatever is in it. */
const ROW = 40;
const LINE_BREAK = 16;
/** Weight of a character that is not printed by itself: a combining mark, a direction, a control character. */
const MARK = 4;
const UNPRINTED = /[\p{M}\p{Cc}\p{Cf}]/u;
/** Weight of a character in a script of another font: the typesetter tries one font after the other. Lao and emoji weigh most. */
const OTHER_SCRIPT = 10;

/** Ends every text that is not shown whole. */
export const CUT = " […]";

/** Identifies these figures, as part of the layout. */
export const ABRIDGING = JSON.stringify([LEVELS, BUDGET, ROW, LINE_BREAK, MARK, OTHER_SCRIPT, CUT]);

export type Abridger = ReturnType<typeof abridgerFor>;

/** Cuts the texts of one PDF, and adds up their weights. */
function abridgerFor({ text: maxText, answers: maxAnswers }: (typeof LEVELS)[number], budget: number) {
  let left = budget;
  return {
    maxAnswers,
    /** Whether anything has been cut or left out. */
    abridged: false,
    /** Returns the text, or its beginning if it is too long. Never splits a character as readers see it. */
    cut(text: string): string {
      const { end, weight } = measure(text, maxText);
      left -= weight + ROW;
      if (left < 0) throw new TooHeavy();
      if (end === text.length) return text;
      this.abridged = true;
      return beginningOf(text, end) + CUT;
    },
  };
}

class TooHeavy extends Error {}

/** Makes a document with the least abridging that keeps it within the budget. Its time is linear in what it shows. */
export function abridge<T>(make: (abridger: Abridger) => T): T {
  for (const level of LEVELS) {
    try {
      return make(abridgerFor(level, level === LEVELS.at(-1) ? Infinity : BUDGET));
    } catch (error) {
      if (!(error instanceof TooHeavy)) throw error;
    }
  }
  throw new Error("The last level has no budget, so nothing is too heavy for it.");
}

/** Returns where a text reaches `max` (its length if it never does), and its weight up to there. */
function measure(text: string, max: number): { end: number; weight: number } {
  let weight = 0;
  for (let end = 0; end < text.length; end++) {
    const next = weight + weightOf(text.charCodeAt(end));
    if (next > max) return { end, weight };
    weight = next;
  }
  return { end: text.length, weight };
}

function weightOf(unit: number): number {
  if (unit === 0x0a || unit === 0x0d || unit === 0x0b || unit === 0x0c || unit === 0x85) return LINE_BREAK;
  if (unit === 0x2028 || unit === 0x2029) return LINE_BREAK;
  // Latin, Greek and Cyrillic, and general punctuation: the first font has them.
  if (unit >= 0x0530 && (unit < 0x2000 || unit >= 0x2070)) return OTHER_SCRIPT;
  return UNPRINTED.test(String.fromCharCode(unit)) ? MARK : 1;
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Returns the text before the grapheme at `end`. One grapheme may be of any length; that one is split. */
export function beginningOf(text: string, end: number): string {
  // Include one more unit, because the unit at `end` may be the first half of a character.
  const whole = graphemes.segment(text.slice(0, end + 2)).containing(end)?.index ?? 0;
  return text.slice(0, whole > 0 ? whole : end).toWellFormed();
}
