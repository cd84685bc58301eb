import { problem } from "../problems.ts";
import type { IncomingFile } from "./file.ts";

/** The endings of programs, scripts, web pages, shortcuts, and archives that start a program. */
const ENDINGS = new Set(
  (
    "exe msi msix bat cmd com scr pif cpl dll ps1 psm1 vbs vbe js jse mjs cjs wsf wsh jar apk ipa sh bash zsh command app dmg pkg deb rpm " +
    "appimage run html htm xhtml xht shtml mht mhtml svg svgz lnk url desktop hta php phtml py pyc pyw rb pl reg jnlp iso chm"
  ).split(" "),
);

/** Number of bytes from which a file's kind is seen. */
const HEAD_BYTES = 4096;

/** What programs begin with, one character for each byte: Windows, Linux, macOS (and Java), Android, shortcuts, scripts. */
const MAGIC =
  /^(?:MZ|\x7fELF|\xfe\xed\xfa[\xce\xcf]|[\xce\xcf]\xfa\xed\xfe|\xca\xfe\xba[\xbe\xbf]|dex\n|L\0\0\0\x01\x14\x02\0)/; // oxlint-disable-line no-control-regex -- bytes
/** Scripts and web pages, after a byte order mark. */
const MARKUP =
  /^(?:#!|(?:\s+|<\?xml[^>]*>|<!--(?:(?!-->)[^])*-->)*<(?:\?php|(?:!doctype\s+(?:html|svg)|html|head|body|script|svg|iframe)(?=[\s/>]|$)))/i;
const BYTE_ORDER_MARK = /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/;

/** Returns the problem of a file that is plainly no document. Its pointer is /content. */
function notADocument() {
  const detail = "The file is a program, a script or a web page. Send a document, such as a PDF or a photo.";
  const errors = [{ pointer: "/content", detail: "must be a document" }];
  return problem("unsupported_media_type", detail, { errors });
}

/** @throws problem unsupported_media_type if the name is one of a program. */
export function refuseProgramNamed(filename: string): void {
  const ending = /\.([^.]*)$/.exec(filename.replace(/\.bin$/, ""))?.[1] ?? "";
  if (ENDINGS.has(ending.normalize("NFKC").toLowerCase())) throw notADocument();
}

/** Passes a file on. Holds back its first bytes until it has seen enough of them. @throws problem unsupported_media_type */
export async function* withoutPrograms(stream: IncomingFile["stream"]) {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of stream) {
    if (head === undefined) yield chunk;
    else {
      head = Buffer.concat([head, chunk]);
      if (head.length < HEAD_BYTES) continue;
      yield checked(head);
      head = undefined;
    }
  }
  if (head !== undefined && head.length > 0) yield checked(head);
}

function checked(bytes: Buffer): Buffer {
  const head = bytes.toString("latin1", 0, HEAD_BYTES);
  // In UTF-16 and UTF-32, ASCII has zero bytes.
  if (MAGIC.test(head) || MARKUP.test(head.replace(BYTE_ORDER_MARK, "").replaceAll("\0", ""))) throw notADocument();
  return bytes;
}
