import { format } from "prettier";
import type { Ratio } from "./stats.ts";

export type Verdict = "met" | "not met" | "too noisy" | "not measured";

/** One row of the bench's result: a bound, and what was measured. */
export interface Row {
  readonly what: string;
  /** Empty if there is none. */
  readonly bound: string;
  readonly measured: string;
  readonly verdict: Verdict;
}

export interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly caption: string;
}

/** What one part of the bench found. */
export interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly tables: readonly Table[];
  /** Set if the part broke, or if our own service answered wrongly: then the bench fails. */
  readonly failed?: true;
}

/** A row whose bound is the largest ratio that meets it. */
export function ratioRow(what: string, ratio: Ratio, bound: number, reference: string): Row {
  const verdict = ratio.noisy ? "too noisy" : ratio.median <= bound ? "met" : "not met";
  return { what, bound: ratioBound(bound, reference), measured: showRatio(ratio), verdict };
}

export function ratioBound(bound: number, reference: string): string {
  return `<= ${bound} x ${reference}`;
}

/** A row whose bound is the largest value that meets it. */
export function valueRow(what: string, value: number, bound: number, show: (value: number) => string): Row {
  return { what, bound: `<= ${show(bound)}`, measured: show(value), verdict: value <= bound ? "met" : "not met" };
}

export function notMeasured(what: string, bound: string, why: string): Row {
  return { what, bound, measured: why, verdict: "not measured" };
}

/** A row was too noisy, or not measured. Distinct from 1, a failure. */
const INCOMPLETE = 2;

/** Returns the exit code of the bench: 0 if it says of every bound whether it is met. */
export function exitCodeOf(sections: readonly Section[]): number {
  if (sections.some(({ failed }) => failed)) return 1;
  const open = sections
    .flatMap(({ rows }) => rows)
    .filter(({ verdict }) => verdict === "too noisy" || verdict === "not measured");
  return open.length > 0 ? INCOMPLETE : 0;
}

/** Prints no number that the run does not support. */
export function showRatio(ratio: Ratio): string {
  const { noisy, median, q1, q3, rounds } = ratio;
  return noisy ? `too noisy (${rounds} rounds)` : `${median.toFixed(2)} (${q1.toFixed(2)}-${q3.toFixed(2)})`;
}

/** Returns whether a row's bound is met, in a word. */
export function metOf({ bound, verdict }: Row): string {
  if (bound === "") return "–";
  return { met: "yes", "not met": "no", "too noisy": "unknown", "not measured": "unknown" }[verdict];
}

/** Returns a section as Markdown, for a terminal. */
export function textOf({ title, tables, rows }: Section): Promise<string> {
  const cells = rows.map((row) => [row.what, row.bound, row.measured, metOf(row)]);
  const parts = [
    `## ${title}`,
    ...tables.flatMap((table) => [`${table.title}:`, tableOf(table.head, table.rows), table.caption]),
    ...(rows.length === 0 ? [] : [tableOf(["what", "bound", "measured (quartiles)", "met"], cells)]),
  ];
  return format(parts.join("\n\n"), { parser: "markdown" });
}

export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => "-"), ...rows].map((row) => `| ${row.map(escaped).join(" | ")} |`);
  return lines.join("\n");
}

function escaped(cell: string): string {
  return cell.replaceAll("|", "\\|").replaceAll("\n", " ");
}
