import type { Ending, Outcome } from "./report.ts";

/** Returns a run as Markdown: where and when it ran, one row for each fault, and the skipped and failed tests. */
export function tableOf(lines: readonly (Outcome | Ending)[], about: Record<string, string>): string {
  const rows: string[] = [];
  const skipped: string[] = [];
  const failed: string[] = [];
  let outcomes: Outcome[] = [];
  for (const line of lines) {
    if ("fault" in line) outcomes.push(line);
    else {
      const { test, state, why = "" } = line;
      rows.push(...outcomes.map((outcome) => rowOf(outcome, state)));
      outcomes = [];
      if (state === "skipped") skipped.push(`- ${test}: ${why}`);
      if (state === "failed") failed.push(`- ${test}: ${why.split("\n")[0]}`);
    }
  }
  rows.push(...outcomes.map((outcome) => rowOf(outcome, "failed"))); // the run ended in the middle of a test
  return [
    "# What was broken, and what held",
    "",
    `Written by \`npm run test:faults\`. ${Object.entries(about)
      .map(([name, value]) => `${name}: ${value}`)
      .join(". ")}.`,
    "",
    "Counts are requests, times are milliseconds. The slowest decision of the limiter is measured at the replica (the `ms` of its log's lines). Lost means acknowledged but missing afterwards; for a limit, it means admissions that Redis lost. For the event loop, the slowest decision is its longest delay; the note has the CPU time of its thread beside it, which other processes of the machine do not make longer.",
    "",
    `| ${COLUMNS.join(" | ")} |`,
    `| ${COLUMNS.map((_, index) => (index < 2 || index > 9 ? "---" : "---:")).join(" | ")} |`,
    ...rows,
    "",
    ...section("Skipped", skipped.length === 0 ? ["- none"] : skipped),
    ...section("Failed", failed),
  ].join("\n");
}

const COLUMNS = [
  "fault",
  "must hold",
  "offered",
  "admitted",
  "refused",
  "503",
  "failed",
  "lost",
  "slowest decision",
  "recovery",
  "held",
  "note",
];

function rowOf(outcome: Outcome, state: Ending["state"]): string {
  const { fault, held, offered, admitted, refused, unavailable, failed, lost, slowestMs, recoveryMs, note } = outcome;
  const numbers = [
    offered,
    admitted,
    refused,
    unavailable,
    failed,
    lost,
    Math.round(slowestMs),
    recoveryMs === undefined ? "" : Math.round(recoveryMs),
  ];
  const cells = [fault, held, ...numbers, state === "passed" ? "yes" : "**no**", note ?? ""];
  return `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
}

function section(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [`## ${title}`, "", ...lines, ""];
}
