/** The languages of messages, pages and packs, the default first. */
export const MESSAGE_LANGUAGES = ["en", "de", "fr", "es", "nl"] as const;

/** Returns the language in which messages are written for a language tag: its first subtag, or en if no message has that. */
export function messageLanguage(tag: string): (typeof MESSAGE_LANGUAGES)[number] {
  const primary = tag.toLowerCase().split("-")[0];
  return MESSAGE_LANGUAGES.find((language) => language === primary) ?? "en";
}
