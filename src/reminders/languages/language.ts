import { messageLanguage } from "../../schema/languages.ts";
import { de } from "./de.ts";
import { en, type Words } from "./en.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import { nl } from "./nl.ts";

export const LANGUAGES: readonly Words[] = [en, de, fr, es, nl];

/** Returns the words of a language: those of its first subtag, so de-CH is de. Without any, English. */
export function wordsOf(language: string): Words {
  return LANGUAGES.find((words) => words.language === messageLanguage(language)) ?? en;
}
