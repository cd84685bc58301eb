import { fileURLToPath } from "node:url";

/** Scripts with their own Noto Sans family, in the packages @expo-google-fonts/noto-sans-*. */
const SCRIPTS = (
  "Arabic Hebrew Thai Bengali Tamil Telugu Gujarati Gurmukhi Kannada Malayalam Sinhala Khmer Lao Myanmar Georgian Armenian " +
  "Ethiopic"
).split(" ");

/** Font families, in the order they are tried for a character. The first has Latin, Greek, Cyrillic and Devanagari. */
export const FAMILIES = [
  "Noto Sans",
  ...SCRIPTS.map((script) => `Noto Sans ${script}`),
  "Noto Sans S Chinese", // all Han characters, and kana
  "Noto Sans Korean",
  "Noto Emoji",
];

/**
 * The font files of `FAMILIES`, all under the SIL Open Font License 1.1. Each PDF reads all 17 MB and embeds the
 * parts that it uses.
 */
export const FONT_FILES: readonly string[] = [
  embedPdf("fonts-latin", "NotoSans-Regular.ttf"),
  embedPdf("fonts-latin", "NotoSans-SemiBold.ttf"),
  ...SCRIPTS.map((script) => expo(`noto-sans-${script.toLowerCase()}`, `NotoSans${script}_400Regular.ttf`)),
  embedPdf("fonts-sc", "NotoSansHans-Regular.otf"),
  embedPdf("fonts-kr", "NotoSansKR-Regular.otf"),
  expo("noto-emoji", "NotoEmoji_400Regular.ttf"),
];

/** These packages export only their code, so the path to a font is relative to it. */
function embedPdf(name: string, file: string): string {
  return fileURLToPath(new URL(`../fonts/${file}`, import.meta.resolve(`@embedpdf/${name}`)));
}

function expo(name: string, file: string): string {
  return fileURLToPath(import.meta.resolve(`@expo-google-fonts/${name}/400Regular/${file}`));
}
