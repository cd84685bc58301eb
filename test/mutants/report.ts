import { commonStart } from "./apply.ts";
import type { Verdict } from "./verdict.ts";

export interface Row extends Verdict {
  readonly file: string;
  readonly line: number;
  /** What was changed, in one short line. */
  readonly change: string;
}

const LONGEST_CHANGE = 100;
const LONGEST_REASON = 160;

/** Returns what differs between two texts, in one line: `old → new`, with the words around it. */
export function changeOf(before: string, after: string): string {
  const reversed = (text: string) => text.split("").toReversed().join("");
  const start = commonStart(before, after);
  const end = commonStart(reversed(before.slice(start)), reversed(after.slice(start)));
  const from = before.lastIndexOf(" ", start - 1) + 1;
  const nextSpace = before.indexOf(" ", before.length - end);
  const kept = nextSpace === -1 ? 0 : before.length - nextSpace;
  const middle = (text: string) => oneLine(text.slice(from, text.length - kept), LONGEST_CHANGE / 2);
  return `${middle(before) || "(nothing)"} → ${middle(after) || "(nothing)"}`;
}

/** Returns what a change replaces, whole lines before and after it, as a diff without context. */
export function diffOf(file: string, before: string, after: string): string {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const start = commonStart(old, now);
  const end = commonStart(old.slice(start).toReversed(), now.slice(start).toReversed());
  return [
    `--- ${file}:${start + 1}`,
    ...old.slice(start, old.length - end).map((line) => `-${line}`),
    ...now.slice(start, now.length - end).map((line) => `+${line}`),
  ].join("\n");
}

/** Returns the rows as a Markdown table. A row that is not red says why. */
export function tableOf(rows: readonly Row[]): string {
  return [
    "| file | line | change | verdict | seconds | by |",
    "| --- | ---: | --- | --- | ---: | --- |",
    ...rows.map(({ file, line, change, kind, seconds, why }) => {
      const cells = [file, line, cell(change), kind, seconds.toFixed(0), cell(oneLine(why, LONGEST_REASON))];
      return `| ${cells.join(" | ")} |`;
    }),
  ].join("\n");
}

/** Leaves out the rows that are named as equal: they were not tried. */
export function triedOf<R extends Pick<Row, "kind">>(rows: readonly R[]): R[] {
  return rows.filter(({ kind }) => kind !== "equal");
}

/** Whether at least this share of the rows that were tried is red. */
export function reaches(goal: number, rows: readonly Pick<Row, "kind">[]): boolean {
  const tried = triedOf(rows);
  return tried.filter(({ kind }) => kind === "red").length >= goal * tried.length;
}

/** Returns the last line of a run: how many rows there are of each verdict. Equal ones are not in the percentage. */
export function summaryOf(rows: readonly Pick<Row, "kind">[]): string {
  const count = (kind: Row["kind"]) => rows.filter((row) => row.kind === kind).length;
  const tried = triedOf(rows).length;
  const percent = tried === 0 ? 0 : (100 * count("red")) / tried;
  const errors = count("error") > 0 ? `, ${count("error")} could not be judged` : "";
  return `${rows.length} rows, ${count("red")} red (${percent.toFixed(1)} %), ${count("survived")} survived, ${count("equal")} equal${errors}`;
}

function oneLine(text: string, longest: number): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
