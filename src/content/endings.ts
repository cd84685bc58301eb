import { shownName } from "../visible-text.ts";

/** The endings of documents: pdf, images, office, text. None of them starts a program when it is opened. */
const ENDINGS = new Set(
  (
    "pdf jpg jpeg png gif webp heic heif avif tif tiff bmp doc docx odt rtf pages xls xlsx ods numbers ppt pptx odp key " +
    "txt csv md bin"
  ).split(" "),
);

/** @param ending in lower case, without its dot. */
export function isDocumentEnding(ending: string): boolean {
  return ENDINGS.has(ending);
}

/**
 * Returns the name of a file that a stranger chose, as a clerk may save it: with nothing that hides its ending, and with
 * `.bin` after an ending that is not a document's. Null if nothing is left.
 */
export function withSafeEnding(filename: string): string | null {
  const name = shownName(filename).replace(/[. ]+$/, ""); // Windows drops them
  const ending = /\.([^.]*)$/.exec(name)?.[1]?.toLowerCase();
  if (name === "") return null;
  return ending === undefined || isDocumentEnding(ending) ? name : `${name}.bin`;
}
