import { transformSync } from "esbuild";
import { applied } from "./apply.ts";
import type { Mutant } from "./mutant.ts";
import type { Verdict } from "./verdict.ts";

/**
 * Looks for a change by chance among the rows of the table that are named as equal. It is one of them if both make the same
 * program: spaces, comments and brackets do not count.
 * @param text the file without a change. @param after the file with the change.
 * @returns the row's verdict, which gives the reason; undefined if no row names the change.
 */
export function namedEqual(
  table: readonly Mutant[],
  { file, text, after }: { file: string; text: string; after: string },
): Verdict | undefined {
  const rows = table.filter((row) => row.file === file && row.equal !== undefined);
  const program = rows.length === 0 ? "" : programOf(after);
  const row = rows.find((row) => programOf(applied(text, row)) === program);
  return row?.equal === undefined ? undefined : { kind: "equal", why: row.equal, seconds: 0 };
}

function programOf(text: string): string {
  return transformSync(text, { loader: "ts", minifyWhitespace: true }).code;
}
