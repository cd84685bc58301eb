import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { parse, View } from "vega";
import type { Chart, Row, Section, Table } from "./report.ts";

export interface About {
  /** RFC 3339. */
  readonly date: string;
  readonly node: string;
  readonly cores: number;
  readonly engine: string;
}

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 3rem; } h3 { margin-bottom: .25rem; }
figure { margin: 1.5rem 0; overflow-x: auto; } figcaption, caption { color: #555; font-size: .9rem; text-align: left; }
caption { caption-side: bottom; padding-top: .5rem; }
table { border-collapse: collapse; font-size: .9rem; } th, td { border-bottom: 1px solid #ddd; padding: .3rem .7rem; text-align: left; vertical-align: top; }
.met { color: #116611; } .not { color: #aa1111; } .too { color: #885500; }
`;

/** Writes the page: one HTML file that loads nothing. Creates its folder. */
export async function writePage(file: string, sections: readonly Section[], about: About): Promise<void> {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, await pageOf(sections, about));
}

/** Returns the page as HTML. */
export async function pageOf(sections: readonly Section[], { date, node, cores, engine }: About): Promise<string> {
  const parts = await Promise.all(sections.map(sectionHtml));
  const rows = sections.flatMap((section) => section.rows);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Bench of the Candidate Onboarding Service</title>
<style>${STYLE}</style>
<h1>Bench of the Candidate Onboarding Service</h1>
<p>${text(`Measured on ${date}, Node ${node}, ${cores} cores that servers, Redis, MongoDB and the load generator share. MongoDB: ${engine}.`)}</p>
<p>CPU is what each process used by the system's accounting. Contenders take turns, round by round. A ratio is the median of the rounds' ratios, with their quartiles. A ratio of a run that was too noisy is not printed.</p>
<h2>All rows</h2>
${rowsHtml(rows)}
${parts.join("\n")}
</html>
`;
}

async function sectionHtml({ title, tables, charts }: Section): Promise<string> {
  const figures = await Promise.all(charts.map(figureHtml));
  return [`<h2>${text(title)}</h2>`, ...figures, ...tables.map(tableHtml)].join("\n");
}

async function figureHtml({ title, caption, spec }: Chart): Promise<string> {
  const svg = await new View(parse(spec), { renderer: "none" }).toSVG();
  return `<figure><h3>${text(title)}</h3>${svg}<figcaption>${text(caption)}</figcaption></figure>`;
}

function tableHtml({ title, head, rows, caption }: Table): string {
  return `<h3>${text(title)}</h3>\n${tableOf(
    head,
    rows.map((row) => row.map(text)),
    caption,
  )}`;
}

function rowsHtml(rows: readonly Row[]): string {
  const cells = rows.map(({ what, bound, measured, verdict }) => [
    text(what),
    text(bound),
    text(measured),
    `<span class="${verdict.split(" ")[0] ?? ""}">${text(verdict)}</span>`,
  ]);
  return tableOf(["what", "bound", "measured (quartiles)", "verdict"], cells, "");
}

/** @param rows cells as HTML. */
function tableOf(head: readonly string[], rows: readonly (readonly string[])[], caption: string): string {
  const heading = head.map((name) => `<th>${text(name)}</th>`).join("");
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("\n");
  const below = caption === "" ? "" : `<caption>${text(caption)}</caption>`;
  return `<table>${below}<thead><tr>${heading}</tr></thead><tbody>${body}</tbody></table>`;
}

function text(plain: string): string {
  return plain.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
