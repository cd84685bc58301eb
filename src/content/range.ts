import type { ByteRange } from "./file.ts";

/**
 * Returns the range that a Range header selects from `size` bytes (RFC 9110, 14.2), or "unsatisfiable" if it lies
 * outside them. Returns undefined if the header must be ignored: it is absent, malformed, in another unit, or names
 * several ranges. The answer is then the whole content.
 */
export function rangeOf(header: string | undefined, size: number): ByteRange | "unsatisfiable" | undefined {
  const [, first, last] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "") ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return undefined;
  if (first === "") return satisfiable({ start: Math.max(size - Number(last), 0), end: size });
  if (last !== "" && Number(last) < Number(first)) return undefined;
  return satisfiable({ start: Number(first), end: last === "" ? size : Math.min(Number(last) + 1, size) });
}

function satisfiable(range: ByteRange): ByteRange | "unsatisfiable" {
  return range.start < range.end ? range : "unsatisfiable";
}
