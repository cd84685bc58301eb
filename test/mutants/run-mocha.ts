import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Outcome } from "./reporter.ts";

const TSX = import.meta.resolve("tsx");

export interface MochaRun {
  /** The copy of the project to run in. */
  readonly project: string;
  /** A folder for the outcome's file and for the temporary files of the tests. */
  readonly tmp: string;
  readonly env: NodeJS.ProcessEnv;
  /** The files of tests, in the order in which they run. */
  readonly files: readonly string[];
  /** Whether the run ends at the first failed test. */
  readonly bail: boolean;
  readonly limitMs: number;
  /** If it aborts, mocha and its children are killed. */
  readonly signal: AbortSignal;
}

export interface MochaResult {
  /** undefined if mocha could not load the tests. */
  readonly outcome: Outcome | undefined;
  /** Whether the run was killed because it took longer than `limitMs`. */
  readonly timedOut: boolean;
}

/** Runs files of tests one after the other in one process. All processes that they start are gone when it resolves. */
export async function runMocha({ project, tmp, env, files, bail, limitMs, signal }: MochaRun): Promise<MochaResult> {
  const outcomeFile = join(tmp, "outcome.json");
  rmSync(outcomeFile, { force: true });
  const options = ["--exit", "--reporter", "test/mutants/reporter.ts", "--reporter-option", `outcome=${outcomeFile}`];
  if (bail) options.push("--bail");
  const child = spawn(
    process.execPath,
    ["--import", TSX, join(project, "node_modules/mocha/bin/mocha.js"), ...options, ...files],
    // It leads a process group of its own, so that the services and servers which tests start can be killed with it.
    { cwd: project, env: { ...env, TMPDIR: tmp }, stdio: "ignore", detached: true },
  );
  let timedOut = false;
  const kill = () => killGroup(child.pid);
  const timer = setTimeout(() => {
    timedOut = true;
    kill();
  }, limitMs);
  signal.addEventListener("abort", kill);
  if (signal.aborted) kill();
  await once(child, "exit");
  clearTimeout(timer);
  signal.removeEventListener("abort", kill);
  kill();
  signal.throwIfAborted();
  const outcome = existsSync(outcomeFile) ? (JSON.parse(readFileSync(outcomeFile, "utf8")) as Outcome) : undefined;
  return { outcome, timedOut };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // ESRCH: all its processes have ended
  }
}
