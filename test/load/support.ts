import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

/** A run of the load kit. */
export interface LoadRun {
  readonly code: number | null;
  /** Standard output and standard error. */
  readonly output: string;
}

/** One way of running the scenarios. */
export interface Way {
  readonly name: string;
  /** Exit code of a run that did not prove what it should. */
  readonly notProved: number;
  /** Exit code of a run whose target does not fit the scenario. */
  readonly unfit: number;
  run(scenario: string, settings: Record<string, string>): Promise<LoadRun>;
}

const K6_OPTIONS = ["-q", "--address", "localhost:0", "--log-format", "raw"];

export const byK6: Way = {
  name: "k6",
  notProved: 99,
  unfit: 108,
  run: (scenario, settings) => launch("k6", ["run", ...K6_OPTIONS, `test/load/${scenario}.js`], settings),
};

export const byNode: Way = {
  name: "npm run load",
  notProved: 1,
  unfit: 2,
  run: (scenario, { KEYS = "", ...settings }) => {
    const optionOf = (name: string): string => `--${name.toLowerCase().replaceAll("_", "-")}`;
    const options = Object.entries(settings).flatMap(([name, value]) => [optionOf(name), value]);
    return runLoad([scenario, ...options], { KEYS });
  },
};

/** Whether k6 is on the PATH. */
export function haveK6(): boolean {
  return spawnSync("k6", ["version"]).error === undefined;
}

/** Runs what `npm run load` runs. */
export function runLoad(args: readonly string[], env: Record<string, string> = {}): Promise<LoadRun> {
  return launch(process.execPath, ["src/dev/bootstrap.mjs", "test/load/main.ts", ...args], env);
}

/** Starts what `npm run load` runs, and returns it while it runs. */
export function startLoad(args: readonly string[], env: Record<string, string>) {
  const child = spawn(process.execPath, ["src/dev/bootstrap.mjs", "test/load/main.ts", ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return child;
}

async function launch(command: string, args: readonly string[], env: Record<string, string>): Promise<LoadRun> {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const [stderr, stdout, [code]] = await Promise.all([text(child.stderr), text(child.stdout), once(child, "close")]);
  return { code: code as number | null, output: `${stderr}${stdout}` };
}
