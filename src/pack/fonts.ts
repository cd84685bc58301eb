import { createRequire as requireFrom } from "node:module";
import { dirname, join } from "node:path";

/** Not import.meta.resolve: mocha runs this file as a CommonJS module, which has none. */
const { resolve } = requireFrom(import.meta.url);

/** A font family. Its files are under the SIL Open Font License 1.1. */
export interface Font {
  readonly family: string;
  /** Finds the files. @throws if the package is not installed. */
  readonly files: () => readonly string[];
  /** Matches text in the one script that the family is for. */
  readonly script?: RegExp;
}

/** Scripts that have a family of their own, by their names in Unicode. */
const SCRIPTS = (
  "Arabic Hebrew Thai Bengali Tamil Telugu Gujarati Gurmukhi Kannada Malayalam Oriya Sinhala Khmer Lao Myanmar Tibetan " +
  "Georgian Armenian Ethiopic Syriac Thaana Mongolian Yi Javanese Adlam Nko Tifinagh Ol_Chiki Meetei_Mayek Cherokee " +
  "Canadian_Aboriginal"
).split(" ");

/** Families that are not called `Noto Sans` and the script. */
const NAMES: Record<string, string> = { Nko: "Noto Sans NKo", Tibetan: "Noto Serif Tibetan" };

/** All fonts, in the order they are tried for a character. The first has Latin, Greek, Cyrillic and Devanagari. */
export const FONTS: readonly Font[] = [
  embedPdf("Noto Sans", "fonts-latin", "NotoSans-Regular.ttf", "NotoSans-SemiBold.ttf"),
  ...SCRIPTS.map((script) => ({
    ...expo(NAMES[script] ?? `Noto Sans ${script.replaceAll("_", " ")}`),
    script: new RegExp(`\\p{Script_Extensions=${script}}`, "u"),
  })),
  embedPdf("Noto Sans S Chinese", "fonts-sc", "NotoSansHans-Regular.otf"), // most Han characters, and kana
  embedPdf("Noto Sans Korean", "fonts-kr", "NotoSansKR-Regular.otf"),
  embedPdf("Noto Sans Japanese", "fonts-jp", "NotoSansJP-Regular.otf"), // JIS X 0213, with 﨑 and 𠮷
  embedPdf("Noto Sans T Chinese", "fonts-tc", "NotoSansHant-Regular.otf"), // bopomofo, and characters of Hong Kong
  ...["Noto Emoji", "Noto Sans Symbols", "Noto Sans Symbols 2"].map(expo),
];

/** Returns the fonts to try for a text: all but those of scripts that are not in it. */
export function fontsFor(text: string): Font[] {
  return FONTS.filter(({ script }) => script?.test(text) ?? true);
}

/** Returns the font files of the given families. */
export function filesOf(fonts: readonly Font[]): string[] {
  return fonts.flatMap(({ files }) => files());
}

/** These packages export only their code, so the path to a font is relative to it. */
function embedPdf(family: string, name: string, ...files: string[]): Font {
  const folder = () => join(dirname(resolve(`@embedpdf/${name}`)), "../fonts");
  return { family, files: () => files.map((file) => join(folder(), file)) };
}

function expo(family: string): Font {
  const name = family.toLowerCase().replaceAll(" ", "-");
  const file = `400Regular/${family.replaceAll(" ", "")}_400Regular.ttf`;
  return { family, files: () => [resolve(`@expo-google-fonts/${name}/${file}`)] };
}
