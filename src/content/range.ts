import type { ByteRange } from "./file.ts";

/**
 * What a Range header asks for of `size` bytes (RFC 9110, 14.2): one range; "unsatisfiable" where it lies outside; undefined
 * where it is to be ignored, because it is malformed, in another unit, or several ranges, which are answered by the whole.
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
