/** Bytes that are read as they arrive. */
export interface Download {
  /** If the connection breaks, reading it fails. Continue with `range` and the `etag`. */
  readonly body: ReadableStream<Uint8Array>;
  readonly contentType: string;
  /** Length of `body` in bytes, if the service says so. */
  readonly size: number | undefined;
  readonly etag: string | undefined;
  /** The file's name. It comes from whoever uploaded the file, so check it before it becomes part of a path. */
  readonly filename: string | undefined;
  /** Which part of the content it is, for example `bytes 0-99/1234`. Undefined for the whole. */
  readonly contentRange: string | undefined;
}

/** A part of the content, in bytes. Without `end` it goes to the last byte. */
export interface Range {
  readonly start: number;
  /** The first byte that is not wanted. */
  readonly end?: number;
  /** The ETag of the content of which the caller has the rest. If the content has changed since, all of it is sent. */
  readonly etag?: string;
}

/** Returns the headers for a part of the content (RFC 9110, 14.2). @throws RangeError if it has no bytes: all would be sent. */
export function rangeHeaders(range: Range | undefined): Record<string, string> {
  if (range === undefined) return {};
  if (!(range.start >= 0 && range.start < (range.end ?? Infinity)))
    throw new RangeError(`This range has no bytes: ${range.start}-${range.end}`);
  const last = range.end === undefined ? "" : range.end - 1;
  const bytes = { Range: `bytes=${range.start}-${last}` };
  return range.etag === undefined ? bytes : { ...bytes, "If-Range": range.etag };
}

export async function download({ headers, body }: Response): Promise<Download> {
  const size = headers.get("content-length");
  return {
    body: body ?? new Blob([]).stream(),
    contentType: headers.get("content-type") ?? "application/octet-stream",
    size: size === null ? undefined : Number(size),
    etag: headers.get("etag") ?? undefined,
    filename: filenameIn(headers.get("content-disposition") ?? ""),
    contentRange: headers.get("content-range") ?? undefined,
  };
}

/** Reads filename* (RFC 8187), or else filename, of a Content-Disposition (RFC 6266). */
function filenameIn(disposition: string): string | undefined {
  const [, extended] = /filename\*=UTF-8''([^;]+)/i.exec(disposition) ?? [];
  if (extended !== undefined) return decodeURIComponent(extended);
  const [, quoted, token] = /filename=(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition) ?? [];
  return quoted?.replaceAll(/\\(.)/g, "$1") ?? token;
}

/** Returns the Content-Disposition that gives a file its name. */
export function dispositionOf(filename: string): string {
  const encoded = encodeURIComponent(filename.toWellFormed()).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename*=UTF-8''${encoded}`;
}
