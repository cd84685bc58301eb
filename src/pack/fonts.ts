import { fileURLToPath } from "node:url";

/** Scripts that have a Noto Sans of their own in the packages @expo-google-fonts/noto-sans-*, by the family's name. */
const SCRIPTS = (
  "Arabic Hebrew Thai Bengali Tamil Telugu Gujarati Gurmukhi Kannada Malayalam Sinhala Khmer Lao Myanmar Georgian Armenian " +
  "Ethiopic"
).split(" ");

/** Families in the order in which they are tried for a character. Latin, Greek, Cyrillic and Devanagari come with the first. */
export const FAMILIES = [
  "Noto Sans",
  ...SCRIPTS.map((script) => `Noto Sans ${script}`),
  "Noto Sans S Chinese", // all of Han, and kana
  "Noto Sans Korean",
  "Noto Emoji",
];

/** The files of those families, all under the SIL Open Font License 1.1: 17 MB are read for a paper, and what it uses is put in. */
export const FONT_FILES: readonly string[] = [
  embedPdf("fonts-latin", "NotoSans-Regular.ttf"),
  embedPdf("fonts-latin", "NotoSans-SemiBold.ttf"),
  ...SCRIPTS.map((script) => expo(`noto-sans-${script.toLowerCase()}`, `NotoSans${script}_400Regular.ttf`)),
  embedPdf("fonts-sc", "NotoSansHans-Regular.otf"),
  embedPdf("fonts-kr", "NotoSansKR-Regular.otf"),
  expo("noto-emoji", "NotoEmoji_400Regular.ttf"),
];

/** These packages export their code only; the fonts lie beside it. */
function embedPdf(name: string, file: string): string {
  return fileURLToPath(new URL(`../fonts/${file}`, import.meta.resolve(`@embedpdf/${name}`)));
}

function expo(name: string, file: string): string {
  return fileURLToPath(import.meta.resolve(`@expo-google-fonts/${name}/400Regular/${file}`));
}
