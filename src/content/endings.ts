import { extension } from "mime-types";
import { isMediaType } from "../schema/media-type.ts";
import { shownName } from "../schema/visible-text.ts";

/** The endings of documents: pdf, images, office, text. None of them starts a program when it is opened. */
const ENDINGS = new Set(
  (
    "pdf jpg jpeg jpe jfif jp2 jxl png gif webp heic heif avif tif tiff bmp dng doc docx odt odg rtf pages xls xlsx ods numbers ppt pptx odp key " +
    "txt csv md bin"
  ).split(" "),
);

/** What follows a dot and starts no program on any system: "CV 2.0", "Dr. Müller". */
const NO_ENDING = /^\d+$|\s|[^\P{L}a-z]/u;

/** @param ending in lower case, without its dot. */
export function isDocumentEnding(ending: string): boolean {
  return ENDINGS.has(ending);
}

/**
 * Returns the name of a file that a stranger chose, as a clerk may save it: with nothing that hides its ending, and with
 * `.bin` after an ending that is not a document's. Null if nothing is left.
 */
export function withSafeEnding(filename: string): string | null {
  const base = filename.split(/[/\\]/).at(-1) ?? "";
  const name = withoutEnd(shownName(base).replaceAll(":", "-")); // NTFS: what follows a colon is no part of the name
  const ending = /\.([^.]*)$/.exec(name)?.[1]?.normalize("NFKC").toLowerCase();
  if (name === "") return null;
  return ending === undefined || isDocumentEnding(ending) || NO_ENDING.test(ending) ? name : `${name}.bin`;
}

/** Leaves out the dots and spaces at the end, as Windows does. A regular expression would take quadratic time. */
export function withoutEnd(name: string): string {
  let end = name.length;
  while (end > 0 && (name[end - 1] === "." || name[end - 1] === " ")) end--;
  return name.slice(0, end);
}

/** Returns the media type of a file that a stranger sent. A browser gives a name without an ending that of its type. */
export function safeType(contentType: string | null): string | null {
  const ending = contentType === null || !isMediaType(contentType) ? false : extension(contentType);
  return ending !== false && isDocumentEnding(ending) ? contentType : null;
}
