/** Zero-width non-joiner and joiner: emoji, Persian and Indic scripts need them. */
const JOINERS = "\\u200C\\u200D";
/** What turns the direction of a text around, whatever its letters are. */
const OVERRIDES = "\\u202D\\u202E";
/** They choose the form of a letter or an emoji: Japanese and Mongolian names have them. */
const VARIATIONS = "\\p{Variation_Selector}";
/** What Unicode shows as nothing, and the marks of direction. */
const INVISIBLE = "[\\p{Default_Ignorable_Code_Point}\\p{Bidi_Control}\\u2800]"; // U+2800 is Braille without a dot

const NEEDLESS = new RegExp(`(?![${JOINERS}${OVERRIDES}])${INVISIBLE}`, "gu");
const NOT_SHOWN = new RegExp(`(?![${JOINERS}${VARIATIONS}])${INVISIBLE}`, "gu");

/**
 * Returns an identifier or an address without its invisible characters, as people copy them along from a page. Leaves
 * those that change what is read (U+200C, U+200D, U+202D, U+202E): the schema refuses them.
 */
export function withoutInvisible(text: string): string {
  return text.replaceAll(NEEDLESS, "");
}

/**
 * Returns a text as people may see it: without the characters that hide or turn around what stands beside them. What emoji
 * and Persian need stays.
 */
export function shown(text: string): string {
  return text.replaceAll(NOT_SHOWN, "");
}

/** Does the same for a name, and puts it on one line. */
export function shownName(text: string): string {
  return shown(text.replaceAll(/[\s\p{Cc}]+/gu, " ")).trim();
}
