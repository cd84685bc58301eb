import { readdirSync } from "node:fs";
import type { Configuration } from "./configuration.ts";
import { runTlc, type TlcRun } from "./tlc.ts";

/** A run that takes more CPU time is ended, and fails. In seconds. */
const SMALL_S = 600;
const LARGE_S = 1_800;

/** A configuration that was checked. */
export interface Checked {
  readonly configuration: Configuration;
  readonly run: TlcRun;
  /** In a few words: what TLC found. */
  readonly verdict: string;
  /** Whether it found what it must: no violation, or for a mutant the violation of the named invariant. */
  readonly asItShould: boolean;
}

/** Loads the configurations: every list in a file test/model/…-configurations.ts. */
export async function allConfigurations(): Promise<Configuration[]> {
  const folder = new URL(".", import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith("-configurations.ts"));
  const modules = await Promise.all(
    files.toSorted().map((file) => import(new URL(file, folder).href) as Promise<Record<string, unknown>>),
  );
  const lists = modules.flatMap((exported) => Object.values(exported).filter((value) => Array.isArray(value)));
  // A file may collect the lists of others, so a configuration may be in two lists.
  return [...new Set(lists.flat() as Configuration[])];
}

/** Runs TLC on a configuration. @throws if TLC fails. */
export async function check(configuration: Configuration): Promise<Checked> {
  const { module, size, violates, properties = [] } = configuration;
  const short = size === "small";
  const cpuSeconds = short ? SMALL_S : LARGE_S;
  const run = await runTlc({ module, cfg: cfgOf(configuration), short, cpuSeconds });
  // TLC does not name a temporal property that is violated.
  const unnamed = run.violated?.startsWith("Temporal properties") === true && properties.length === 1;
  const violated = unnamed ? properties[0] : run.violated;
  const found = violated === undefined ? "holds" : `${violated} violated, in ${run.steps} steps`;
  const asItShould = violated === violates;
  const expected = violates === undefined ? "must hold" : `must violate ${violates}`;
  return { configuration, run, asItShould, verdict: asItShould ? found : `**${found}; ${expected}**` };
}

/** Returns the text of TLC's configuration file. */
export function cfgOf({ constants, invariants, properties = [], constraint, symmetry }: Configuration): string {
  return [
    ...(properties.length > 0 ? ["SPECIFICATION Spec"] : ["INIT Init", "NEXT Next"]),
    "CONSTANTS",
    ...Object.entries(constants).map(([name, value]) => `  ${name} = ${value}`),
    ...(invariants.length > 0 ? ["INVARIANTS", ...invariants.map((name) => `  ${name}`)] : []),
    ...(properties.length > 0 ? ["PROPERTIES", ...properties.map((name) => `  ${name}`)] : []),
    ...(constraint === undefined ? [] : [`CONSTRAINT ${constraint}`]),
    ...(symmetry === undefined ? [] : [`SYMMETRY ${symmetry}`]),
    "CHECK_DEADLOCK FALSE",
    "",
  ].join("\n");
}
