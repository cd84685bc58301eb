import { lazy } from "../infra/ahead.ts";
import { invalid } from "../problems.ts";

/** Loaded once the process serves: its tables of charsets take 30 ms. */
const mime = lazy(async () => (await import("libmime")).default);

export interface HeaderValue {
  /** The part before the parameters, in lower case. */
  readonly value: string;
  /** By their names in lower case. */
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Reads a header with parameters as clients write it. `filename*` (RFC 8187, and RFC 2231 in sections) goes before
 * `filename`, in which encoded words (RFC 2047) are decoded: .NET sends both. A backslash escapes only a quote or another
 * backslash, because browsers send those of a filename as they are.
 */
export async function headerValue(text: string): Promise<HeaderValue> {
  const libmime = await mime();
  const escaped = text.replaceAll(/\\(["\\])?/g, (pair, char?: string) => (char === undefined ? "\\\\" : pair));
  const { value, params, decodedParams } = libmime.parseHeaderValue(escaped);
  const type = value.toLowerCase();
  const { filename } = params;
  if (filename === undefined) return { value: type, params };
  if (decodedParams.includes("filename"))
    return { value: type, params: { ...params, filename: PLAIN.test(text) ? unquoted(filename) : filename } };
  const decoded = libmime.decodeWords(filename);
  const plain = decoded === filename && type === "form-data" ? unescaped(filename) : decoded;
  return { value: type, params: { ...params, filename: plain } };
}

/** The parameter `filename` itself. */
const PLAIN = /;\s*filename\s*=/i;

/** In .NET, a filename that the program puts into quotes has them in `filename` as syntax, but in `filename*` as text. */
function unquoted(filename: string): string {
  return /^"(.+)"$/s.exec(filename)?.[1] ?? filename;
}

/**
 * aiohttp percent-encodes a whole filename (RFC 7578, 2). Browsers and fetch encode only its double quotes, CR and LF (HTML,
 * multipart/form-data encoding): a name that is not encoded as a whole is theirs.
 */
function unescaped(filename: string): string {
  return fullyDecoded(filename) ?? filename.replaceAll(/%(22|0D|0A)/gi, (encoded) => decodeURIComponent(encoded));
}

/** Returns undefined unless all characters but letters, digits and `-._~` are encoded, and no others. */
function fullyDecoded(filename: string): string | undefined {
  try {
    const decoded = decodeURIComponent(filename);
    const encoded = encodeURIComponent(decoded).replaceAll(
      /[!'()*]/g,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
    );
    return encoded === filename ? decoded : undefined;
  } catch {
    return undefined; // not UTF-8
  }
}

export function invalidFile(pointer: string, detail: string): Error {
  return invalid(pointer, detail, `The file is not valid. ${pointer} ${detail}.`);
}

/**
 * Returns the filename in a Content-Disposition, or null if it has none.
 * @param pointer where the fault is. @throws problem validation_failed if the name cannot be decoded.
 */
export function filenameIn({ params }: HeaderValue, pointer: string): string | null {
  if (params["filename"]?.includes("\uFFFD")) throw invalidFile(pointer, "must have a filename in UTF-8");
  return params["filename"] || null;
}

/** @throws problem validation_failed if bytes are declared to be in base64, quoted-printable or anything else but themselves. */
export function checkTransferEncoding(encoding: string | undefined, pointer: string): void {
  if (encoding === undefined || /^(?:7bit|8bit|binary|)$/i.test(encoding.trim())) return;
  throw invalid(
    pointer,
    `must not have Content-Transfer-Encoding ${JSON.stringify(encoding.trim().slice(0, 40))}; send the bytes as they are, without that header (RFC 7578, 4.7)`,
  );
}
