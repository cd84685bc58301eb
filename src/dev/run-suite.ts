import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runChild } from "./child.ts";
import { dataDirOf, toolsIn } from "./data-dir.ts";
import { explain, say } from "./output.ts";
import { ensureServers, type Servers } from "./servers.ts";
import { listenForStop, type StopSignals } from "./stop-signals.ts";

export type Suite = {
  /** Names the temporary folder. */
  readonly name: string;
  /** Further variables for the tests' environment. */
  readonly env?: (servers: Servers, dataDir: string, signal: AbortSignal) => Promise<NodeJS.ProcessEnv>;
} & (
  | {
      /** Arguments for mocha. */
      readonly mocha: readonly string[];
    }
  | {
      /** A program to run instead of mocha, relative to the project's root. */
      readonly program: string;
      readonly args: readonly string[];
    }
);

const MOCHA = "node_modules/mocha/bin/mocha.js";

/**
 * Starts an empty Redis and an empty MongoDB, runs mocha or another program against them, and removes them. Ends the process
 * with its exit code, or with 1 if the suite was interrupted or could not start.
 */
export function runSuite(suite: Suite): Promise<never> {
  return exitWith((signals) => run(suite, signals));
}

/**
 * Ends the process with the exit code that `run` returns, or with 1 if `run` fails or was interrupted. Prints why it failed.
 */
export async function exitWith(run: (signals: StopSignals) => Promise<number>): Promise<never> {
  const signals = listenForStop();
  let code = 1;
  try {
    code = await run(signals);
  } catch (error) {
    if (!signals.stopping.aborted) say(explain(error));
  }
  process.exit(signals.stopping.aborted ? 1 : code);
}

/** @returns the program's exit code. Mocha's is the number of failures. */
async function run({ name, env: more, ...what }: Suite, { stopping }: StopSignals): Promise<number> {
  const [program, args] = "mocha" in what ? [MOCHA, what.mocha] : [what.program, what.args];
  const dataDir = await mkdtemp(join(tmpdir(), `onboarding-${name}-`));
  try {
    const tools = toolsIn(dataDirOf(process.env));
    const servers = await ensureServers({ dataDir, tools, env: process.env, signal: stopping });
    try {
      const env = {
        ...process.env,
        REDIS_URL: servers.redisUrl,
        MONGODB_URL: servers.mongodbUrl,
        TMPDIR: dataDir, // so that the temporary files of interrupted tests are removed below
        ...(await more?.(servers, dataDir, stopping)),
      };
      // mocha's parallel runner does not stop cleanly on a signal, so it is killed together with all processes of the tests.
      const options = { stopping, forced: stopping, env, stopWith: "SIGKILL" } as const;
      return (await runChild(program, [...args], options).exited) ?? 1;
    } finally {
      await servers.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}
