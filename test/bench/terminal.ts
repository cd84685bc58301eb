import CliTable from "cli-table3";
import type { Row, Section, Table } from "./report.ts";

/** Characters. Longer text is wrapped. */
const MAX_COLUMN = 60;

/** Returns a section as text for a terminal. */
export function textOf({ title, tables, rows }: Section): string {
  return [`\n${title}`, ...tables.map(tableText), ...(rows.length === 0 ? [] : [rowsText(rows)])].join("\n");
}

export function rowsText(rows: readonly Row[]): string {
  const shown = rows.map(({ what, bound, measured, verdict }) => [what, bound, measured, verdict]);
  return render(["what", "bound", "measured (quartiles)", "verdict"], shown);
}

function tableText({ title, head, rows, caption }: Table): string {
  return `\n${title}\n${render(head, rows)}\n${caption}`;
}

function render(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = new CliTable({
    head: [...head],
    style: { head: [], border: [] },
    colWidths: head.map((name, column) => {
      const widest = Math.max(...[name, ...rows.map((row) => row[column] ?? "")].map((text) => text.length));
      return Math.min(widest, MAX_COLUMN) + 2;
    }),
    wordWrap: true,
  });
  table.push(...rows.map((row) => [...row]));
  return table.toString();
}
