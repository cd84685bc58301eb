import { extension } from "mime-types";
import type { ContentRecord, DocumentRecord } from "../candidates/record.ts";
import { isDocumentEnding, withoutEnd, withSafeEnding } from "../content/endings.ts";
import { shown } from "../schema/visible-text.ts";
import type { PackFile } from "./bundle.ts";

/** Maximum length of a document's name in its path, in bytes. The path stays below 255, which every file system allows. */
const MAX_BYTES = 120;

/** Characters that some file system rejects or misreads: control characters, separators, changes of text direction. */
const FORBIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Noncharacter_Code_Point}\u200B\uFEFF"*/:<>?\\|]+/gu;

/**
 * Names the files of a pack's documents, in the order of the documents: `documents/007 Passport.pdf`. The number is the
 * one that the PDF shows. As a prefix it keeps names distinct on systems that ignore case or normalise Unicode. It also
 * prevents names that are reserved (CON, NUL), empty or hidden.
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
  const plain = shown(stem.normalize("NFC").replace(/\s+/g, " ").trim().replace(FORBIDDEN, "_"));
  const clean = withoutEnd(shorten(plain));
  if (ending !== "") return (clean === "" ? "document" : clean) + ending;
  return withSafeEnding(clean) ?? "document";
}

/**
 * Returns the extension with its dot, in lower case: the uploaded file's, or one for its media type. Empty if neither
 * gives one. `.bin` follows one that is not a document's, so that no program starts when the file is opened.
 */
function endingOf({ filename, content_type }: ContentRecord): string {
  const own = /.\.(?!\d+$)([A-Za-z0-9]{1,10})$/.exec(filename ?? "")?.[1]; // in "CV 2.0" it is none
  const found = own ?? (content_type === "application/octet-stream" ? false : extension(content_type));
  if (!found) return "";
  const ending = found.toLowerCase();
  return isDocumentEnding(ending) ? `.${ending}` : `.${ending}.bin`;
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Shortens text to MAX_BYTES without splitting a grapheme, which is one character to a reader. */
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
