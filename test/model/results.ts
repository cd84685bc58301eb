import { cpus } from "node:os";
import type { Checked } from "./check.ts";
import type { TraceChecks } from "./trace-checks.ts";

const COLUMNS = ["configuration", "what it covers", "states", "depth", "invariants", "time", "verdict"];
const TO_THE_RIGHT = new Set(["states", "depth", "invariants", "time"]);

/** Returns the head of the terminal's table, for names of up to this length. */
export function headOf(nameLength: number): string {
  return terminalLine(nameLength, "configuration", ["states", "depth", "invariants", "time"], "verdict");
}

/** Returns one line for the terminal: the row of a configuration as soon as it was checked. */
export function lineOf(nameLength: number, { configuration, run, verdict }: Checked): string {
  const { name, invariants, properties = [] } = configuration;
  const numbers = [number(run.distinct), `${run.depth}`, `${invariants.length + properties.length}`, time(run.seconds)];
  return terminalLine(nameLength, name, numbers, verdict.replaceAll("**", ""));
}

function terminalLine(nameLength: number, name: string, numbers: readonly string[], verdict: string): string {
  return [name.padEnd(nameLength), ...numbers.map((each) => each.padStart(11)), `  ${verdict}`].join("");
}

/** Returns the results as Markdown: one row for each configuration, and one for the traces of each module. */
export function resultsOf(checked: readonly Checked[], traces: readonly TraceChecks[]): string {
  const rows = checked.map(({ configuration: { name, about, invariants, properties = [] }, run, verdict }) => [
    name,
    about,
    number(run.distinct),
    `${run.depth}`,
    `${invariants.length + properties.length}`,
    time(run.seconds),
    verdict,
  ]);
  const seconds = checked.reduce((sum, { run }) => sum + run.seconds, 0);
  const positives = checked.filter(({ configuration }) => configuration.violates === undefined);
  return [
    "# What TLC found",
    "",
    `Written by \`npm run model -- --large\`. ${about()} ${checked.length} configurations: ${positives.length} must hold, and ${checked.length - positives.length} must be violated. Together they took ${time(seconds)}.`,
    "",
    "States are distinct states. Depth is the number of states on the longest of the shortest paths from the beginning. A verdict such as `AdmittedAtMostTheLimit violated, in 9 steps` gives the length of the counterexample.",
    "",
    `| ${COLUMNS.join(" | ")} |`,
    `| ${COLUMNS.map((name) => (TO_THE_RIGHT.has(name) ? "---:" : "---")).join(" | ")} |`,
    ...rows.map((cells) => `| ${cells.map(escaped).join(" | ")} |`),
    "",
    "## What the invariants are",
    "",
    ...invariantsOf(checked),
    "",
    "## Traces of the real code",
    "",
    ...(traces.length === 0 ? ["- none"] : traces.map((each) => `- ${traceLine(each)}`)),
    "",
  ].join("\n");
}

/** Returns one line about the traces of a module. */
export function traceLine({ module, traces, events, recorded, refused, seconds }: TraceChecks): string {
  const verdict = refused.length === 0 ? "all accepted" : `**${refused.length} refused**: ${refused.join("; ")}`;
  const of = recorded === undefined ? "" : ` of ${number(recorded)}`;
  return `${module}: ${number(traces)} traces, ${number(events)} events${of}, ${time(seconds)}: ${verdict}`;
}

function invariantsOf(checked: readonly Checked[]): string[] {
  const modules = [...new Set(checked.map(({ configuration }) => configuration.module))];
  return modules.map((module) => {
    const positives = checked.filter(
      ({ configuration }) => configuration.module === module && configuration.violates === undefined,
    );
    const names = positives.flatMap(({ configuration: { invariants, properties = [] } }) => [
      ...invariants,
      ...properties,
    ]);
    return `- ${module}: ${[...new Set(names)].map((name) => `\`${name}\``).join(", ")}`;
  });
}

function about(): string {
  const when = new Date().toISOString().slice(0, 16).replace("T", " ");
  return `When: ${when} UTC. Machine: ${cpus().length} cores; TLC runs with one worker.`;
}

function number(value: number): string {
  return value.toLocaleString("en-US");
}

function time(seconds: number): string {
  return seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

function escaped(cell: string): string {
  return cell.replaceAll("|", "\\|").replaceAll("\n", " ");
}
