import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { say } from "./output.ts";

const VERSION_TIMEOUT_MS = 10_000;

/** Returns the path of a program on the PATH, as a shell finds it. */
export function onPath(program: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Returns whether a program exits with code 0 within 10 seconds. */
export async function runs(program: string, args: string[] = ["--version"]): Promise<boolean> {
  return (await whyNot(program, args)) === undefined;
}

/** Returns why a program does not run, in one line. Only running it shows a missing library or another processor's binary. */
async function whyNot(program: string, args: string[] = ["--version"]): Promise<string | undefined> {
  try {
    await promisify(execFile)(program, args, { timeout: VERSION_TIMEOUT_MS });
    return undefined;
  } catch (error) {
    const { stderr = "", code, message } = error as Error & { stderr?: string; code?: unknown };
    return stderr.trim().split("\n")[0] || (typeof code === "number" ? `exit code ${code}` : message);
  }
}

/** Tries one way after the other to find a program. @returns the first one that runs on this machine, if there is one. */
export async function firstThatRuns(ways: readonly (() => string | undefined | Promise<string | undefined>)[]) {
  for (const find of ways) {
    const program = await find();
    if (program === undefined) continue;
    const reason = await whyNot(program);
    if (reason === undefined) return program;
    say(`Skipping ${program}: it does not run on this machine (${reason}).`);
  }
  return undefined;
}

/**
 * Runs one long step of the set-up, with its output on standard error. Returns whether it exited with code 0.
 * @throws the signal's reason if it aborts. The program is then killed.
 */
export async function step(
  title: string,
  program: string,
  args: string[],
  { signal, env = {} }: { signal: AbortSignal; env?: Record<string, string> },
): Promise<boolean> {
  say(`${title} …`);
  const started = performance.now();
  const child = spawn(program, args, { stdio: ["ignore", 2, 2], env: { ...process.env, ...env }, signal });
  // It rejects if the program could not be started, or was aborted.
  const [code]: unknown[] = await once(child, "exit").catch(() => []);
  signal.throwIfAborted();
  say(`  ${code === 0 ? "done" : "failed"} after ${((performance.now() - started) / 1000).toFixed(1)} s`);
  return code === 0;
}
