import { format, resolveConfig } from "prettier";
import { metOf, type Row, tableOf } from "./report.ts";

const BEGIN = "<!-- `npm run bench -- --write` writes this table. -->";
const END = "<!-- Here it ends. -->";
const HEAD = ["part", "what", "bound", "measured", "met", "measured on"];

/**
 * Returns the README with the rows that were measured in its table. Rows of parts that were not measured stay as they are.
 * @param measured the rows by part.
 * @param on when and where they were measured.
 */
export async function withRows(
  readme: string,
  measured: ReadonlyMap<string, readonly Row[]>,
  { on, file }: { on: string; file: string },
): Promise<string> {
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${file} has no place for the table.`);
  const present = readme.slice(begin, end).split("\n").filter(isRow).map(cellsOf);
  const parts = new Set([...present.map(([part = ""]) => part), ...measured.keys()]);
  const rows = [...parts].flatMap((part) => {
    const now = measured.get(part);
    if (now === undefined) return present.filter(([of]) => of === part);
    return now.map((row) => [part, row.what, row.bound, row.measured, metOf(row), on]);
  });
  const changed = `${readme.slice(0, begin)}${BEGIN}\n\n${tableOf(HEAD, rows)}\n\n${readme.slice(end)}`;
  return format(changed, { ...(await resolveConfig(file)), parser: "markdown" });
}

/** Whether a line is a row of a table, but not its head. */
function isRow(line: string): boolean {
  return line.startsWith("| ") && !/^\| (part|-+) /.test(line);
}

function cellsOf(line: string): string[] {
  const cells = line.split(/(?<!\\)\|/).slice(1, -1);
  return cells.map((cell) => cell.trim().replaceAll("\\|", "|"));
}
