import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { text } from "node:stream/consumers";

/** A run of the load kit. */
export interface LoadRun {
  readonly code: number | null;
  /** Standard output and standard error. */
  readonly output: string;
}

/** One way of running the scenarios. `env` has the names of the k6 scripts. */
export interface Runner {
  readonly name: string;
  /** Exit code of a run that did not prove what it should. */
  readonly notProved: number;
  start(scenario: string, env: Record<string, string>): { child: ChildProcess; ended: Promise<LoadRun> };
}

export const k6Runner: Runner = {
  name: "k6",
  notProved: 99,
  start(scenario, env) {
    const given = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
    return launch("k6", [
      "run",
      "-q",
      "--address",
      "localhost:0",
      "--log-format",
      "raw",
      ...given,
      `test/load/${scenario}.js`,
    ]);
  },
};

export const nodeRunner: Runner = {
  name: "npm run load",
  notProved: 1,
  start(scenario, { KEYS, ...env }) {
    const given = Object.entries(env).flatMap(([name, value]) => [optionOf(name), value]);
    return runLoad([scenario, ...given], { KEYS: KEYS ?? "" });
  },
};

/** Whether k6 is on the PATH. */
export function haveK6(): boolean {
  return spawnSync("k6", ["version"]).error === undefined;
}

/** Runs what `npm run load` runs. */
export function runLoad(
  args: readonly string[],
  env: Record<string, string> = {},
): { child: ChildProcess; ended: Promise<LoadRun> } {
  return launch(process.execPath, ["src/dev/bootstrap.mjs", "test/load/main.ts", ...args], env);
}

function optionOf(name: string): string {
  return name === "BASE_URL" ? "--url" : `--${name.toLowerCase().replaceAll("_", "-")}`;
}

/** If LOAD_OUTPUT names a file, the output is also appended to it. */
function launch(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): { child: ChildProcess; ended: Promise<LoadRun> } {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const ended = Promise.all([text(child.stderr), text(child.stdout), once(child, "close")]).then(
    ([stderr, stdout, [code]]) => {
      const output = `${stderr}${stdout}`;
      const file = process.env["LOAD_OUTPUT"];
      const shown = args.join(" ").replaceAll(/cos_live_\w+/g, "cos_live_…");
      if (file) appendFileSync(file, `$ ${command} ${shown}\n${output}\nexit code ${code}\n\n`);
      return { code: code as number | null, output };
    },
  );
  return { child, ended };
}
