import { extension } from "mime-types";
import type { ContentRecord, DocumentRecord } from "../candidates/record.ts";
import type { PackFile } from "./bundle.ts";

/** Bytes of UTF-8 that a document's name may take in a file's: with folder, number and extension well under every system's 255. */
const MAX_BYTES = 120;

/** What some file system refuses, or reads as something else: control characters, separators, turners of text. */
const FORBIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Noncharacter_Code_Point}\u200B\uFEFF"*/:<>?\\|]+/gu;

/**
 * The files of a pack's documents, in the order of the documents: `documents/007 Passport.pdf`. The number is the one that
 * the paper shows; in front, it also keeps names apart on systems that ignore case or normalise, and from being reserved
 * (CON, NUL), empty or hidden.
 */
export function nameFiles(documents: readonly DocumentRecord[]): PackFile[] {
  return documents.flatMap(({ id, name, content }, index) => {
    if (content === null) return [];
    const path = `documents/${String(index + 1).padStart(3, "0")} ${fileNameOf(name, content)}`;
    return [{ path, document_id: id, content }];
  });
}

function fileNameOf(name: string, content: ContentRecord): string {
  const ending = endingOf(content);
  const stem = name.toLowerCase().endsWith(ending) ? name.slice(0, name.length - ending.length) : name;
  const clean = shorten(stem.normalize("NFC").replace(/\s+/g, " ").trim().replace(FORBIDDEN, "_")).replace(
    /[. ]+$/,
    "",
  );
  return (clean === "" ? "document" : clean) + ending;
}

/** The extension with its dot, lower-case: the uploaded file's, or one that fits the media type; none where neither says. */
function endingOf({ filename, content_type }: ContentRecord): string {
  const own = /.\.([A-Za-z0-9]{1,10})$/.exec(filename ?? "")?.[1];
  const found = own ?? (content_type === "application/octet-stream" ? false : extension(content_type));
  return found ? `.${found.toLowerCase()}` : "";
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** As many whole characters, as a person counts them, as the bytes hold. */
function shorten(text: string): string {
  let end = 0;
  let bytes = 0;
  for (const { segment, index } of graphemes.segment(text)) {
    bytes += Buffer.byteLength(segment);
    if (bytes > MAX_BYTES) break;
    end = index + segment.length;
  }
  return text.slice(0, end);
}
