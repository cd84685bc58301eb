import { lazy } from "../infra/lazy.ts";
import { invalid } from "../problems.ts";

/** Its tables of charsets take 30 ms to load. */
const mime = lazy(async () => (await import("libmime")).default);

/** By their names in lower case. */
type Params = Readonly<Record<string, string>>;

/**
 * Reads a header with parameters as clients write it. `filename*` (RFC 8187, and RFC 2231 in sections) goes before
 * `filename`, in which encoded words (RFC 2047) are decoded: .NET sends both. A backslash escapes only a quote or another
 * backslash, because browsers send those of a filename as they are.
 * @returns `value` is the part before the parameters, in lower case.
 */
export async function headerValue(text: string): Promise<{ value: string; params: Params }> {
  const libmime = await mime();
  const escaped = text.replaceAll(/\\(["\\])?/g, (pair, char?: string) => (char === undefined ? "\\\\" : pair));
  const { value, params, decodedParams } = libmime.parseHeaderValue(escaped);
  const type = value.toLowerCase();
  const { filename } = params;
  if (filename === undefined) return { value: type, params };
  if (decodedParams.includes("filename")) {
    // .NET sends a filename that the program puts into quotes with them in `filename*`, and as syntax in `filename`.
    const unquoted = /;\s*filename\s*=/i.test(text) ? /^"(.+)"$/s.exec(filename)?.[1] : undefined;
    return { value: type, params: { ...params, filename: unquoted ?? filename } };
  }
  const decoded = libmime.decodeWords(filename);
  const plain = decoded === filename && type === "form-data" ? unescaped(filename) : decoded;
  return { value: type, params: { ...params, filename: plain } };
}

/**
 * aiohttp percent-encodes a whole filename (RFC 7578, 2): all but letters, digits and `-._~`. Browsers and fetch encode only
 * its double quotes, CR and LF (HTML, multipart/form-data encoding): a name that is not encoded as a whole is theirs.
 */
function unescaped(filename: string): string {
  const percent = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
  try {
    const decoded = decodeURIComponent(filename);
    if (encodeURIComponent(decoded).replaceAll(/[!'()*]/g, percent) === filename) return decoded;
  } catch {
    // not UTF-8
  }
  return filename.replaceAll(/%(22|0D|0A)/gi, (encoded) => decodeURIComponent(encoded));
}

export function invalidFile(pointer: string, detail: string): Error {
  return invalid(pointer, detail, `The file is not valid. ${pointer} ${detail}.`);
}

/**
 * Returns the filename in a Content-Disposition, or null if it has none.
 * @param pointer where the fault is. @throws problem validation_failed if the name cannot be decoded.
 */
export function filenameIn({ filename }: Params, pointer: string, takesAnyText = false): string | null {
  if (!takesAnyText && filename?.includes("\uFFFD")) throw invalidFile(pointer, "must have a filename in UTF-8");
  return filename || null;
}

/** @throws problem validation_failed if bytes are declared to be in base64, quoted-printable or anything else but themselves. */
export function checkTransferEncoding(encoding: string | undefined, pointer: string): void {
  if (encoding === undefined || /^(?:7bit|8bit|binary|)$/i.test(encoding.trim())) return;
  const given = JSON.stringify(encoding.trim().slice(0, 40));
  const advice = "send the bytes as they are, without that header (RFC 7578, 4.7)";
  throw invalid(pointer, `must not have Content-Transfer-Encoding ${given}; ${advice}`);
}
