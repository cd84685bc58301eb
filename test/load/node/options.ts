import { parseArgs } from "node:util";
import { closest } from "fastest-levenshtein";
import { type Settings, UsageError } from "../lib/host.ts";
import { type ScenarioName, SCENARIOS } from "../lib/scenarios.ts";
import { DEFAULTS, readSettings } from "../lib/settings.ts";

/** The options, each with the name that the setting has in k6, its placeholder and its help. */
const OPTIONS = {
  url: ["BASE_URL", "URL", "the deployment, such as http://localhost:8080"],
  key: [
    "KEYS",
    "KEY,…",
    "API keys of one account; may be repeated. Or set KEYS: then they are not in the process list",
  ],
  surfaces: ["SURFACES", "NAME,…", "only these surfaces"],
  duration: ["DURATION", "SECONDS", `how long soak runs (${DEFAULTS.durationSeconds})`],
  connections: ["CONNECTIONS", "N", `requests in flight at once (${DEFAULTS.connections})`],
  "max-requests": ["MAX_REQUESTS", "N", `stop after this many requests (${DEFAULTS.maxRequests})`],
  "max-wait": ["MAX_WAIT", "SECONDS", `the longest wait for a window to end (${DEFAULTS.maxWaitSeconds})`],
  "window-seconds": ["WINDOW_SECONDS", "SECONDS", "refuse a deployment whose window has another length"],
  "p99-ms": ["P99_MS", "MS", "soak fails if its p99 is above this"],
  picture: ["PICTURE", "FILE.svg", "where to write the picture (default: the folder load in .data)"],
} as const;
const FLAGS = {
  fresh: ["FRESH", "exactness: wait for a new window first"],
  yes: ["YES", "send the load to a deployment that is not this machine"],
} as const;

export interface Command {
  readonly scenario: ScenarioName;
  readonly settings: Settings;
  readonly picture: string | undefined;
}

/** Parses the command line. @throws {UsageError} with the nearest name of whatever is unknown. */
export function readCommand(args: readonly string[], env: NodeJS.ProcessEnv): Command | "help" {
  refuseUnknownOption(args);
  const { values, positionals } = parse(args);
  if (values["help"] === true || positionals[0] === "help") return "help";
  const scenario = scenarioOf(positionals);
  const named = Object.entries({ ...OPTIONS, ...FLAGS }).map(([option, [name]]) => {
    const value = values[option];
    return [name, value === true ? "1" : Array.isArray(value) ? value.join(",") : value] as const;
  });
  const given = Object.fromEntries(named) as Record<string, string | undefined>;
  const settings = readSettings({ ...given, KEYS: given["KEYS"] ?? env["KEYS"] }, calledOnCommandLine);
  return { scenario, settings, picture: given["PICTURE"] };
}

export function helpText(): string {
  const rows = [
    ...Object.entries(OPTIONS).map(([option, [, value, help]]) => [`--${option} ${value}`, help] as const),
    ...Object.entries(FLAGS).map(([option, [, help]]) => [`--${option}`, help] as const),
  ];
  const width = Math.max(...rows.map(([option]) => option.length));
  return [
    "npm run load -- [SCENARIO] --url URL --key KEY,KEY,KEY",
    "",
    "Load-tests a deployment. It uses up the limits of the account, and creates candidates in it.",
    "",
    "  smoke      uses every surface once, and checks the contract",
    "  exactness  offers more than the limits allow: admitted must be min(offered, limit). The default",
    "  soak       steady mixed traffic below the limits, for --duration seconds",
    "  stampede   all keys come at the window's edge: exact on both sides of it",
    "  backfill   creates with the first key until its window and its grant are used up",
    "",
    ...rows.map(([option, help]) => `  ${option.padEnd(width)}  ${help}`),
    "",
    "Exit code 0: proved. 1: not exact, not proven or failed. 2: the command line or the target does not fit.",
    "",
  ].join("\n");
}

function scenarioOf(positionals: readonly string[]): ScenarioName {
  const [name = "exactness", more] = positionals;
  const known = Object.keys(SCENARIOS);
  if (!known.includes(name))
    throw new UsageError(
      `There is no scenario "${name}". The nearest is "${closest(name, known)}". Write --help for all.`,
    );
  if (more !== undefined) throw new UsageError(`"${more}" is one argument too many. Write --help for all options.`);
  return name as ScenarioName;
}

function refuseUnknownOption(args: readonly string[]): void {
  const known = [...Object.keys(OPTIONS), ...Object.keys(FLAGS), "help"];
  const { tokens } = parseArgs({ args: [...args], strict: false, tokens: true });
  const unknown = tokens.find((token) => token.kind === "option" && !known.includes(token.name));
  if (unknown?.kind !== "option") return;
  throw new UsageError(
    `Unknown option ${unknown.rawName}. The nearest is --${closest(unknown.name, known)}. Write --help for all.`,
  );
}

function parse(args: readonly string[]): { values: Record<string, unknown>; positionals: string[] } {
  const withValue = Object.keys(OPTIONS).map((name) => [name, { type: "string", multiple: name === "key" }] as const);
  const flags = [...Object.keys(FLAGS), "help"].map((name) => [name, { type: "boolean" }] as const);
  try {
    return parseArgs({
      args: [...args],
      options: Object.fromEntries([...withValue, ...flags]),
      allowPositionals: true,
    });
  } catch {
    throw new UsageError("An option has no value, or a value that it does not take. Write --help for all options.");
  }
}

/** `--key` for KEYS, `--yes` for YES=1. */
function calledOnCommandLine(setting: string): string {
  const [wanted] = setting.split("=");
  const found = Object.entries({ ...OPTIONS, ...FLAGS }).find(([, [name]]) => name === wanted);
  return found === undefined ? setting : `--${found[0]}`;
}
