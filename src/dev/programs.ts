import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { say } from "./output.ts";

const VERSION_TIMEOUT_MS = 10_000;

/** The path of a program, looked up on PATH as a shell does; undefined when it is not there. */
export function onPath(program: string): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Whether a program really runs here (a missing library or another processor show only then): exit code 0 in 10 s. */
export async function runs(program: string, args: string[] = ["--version"]): Promise<boolean> {
  try {
    await promisify(execFile)(program, args, { timeout: VERSION_TIMEOUT_MS });
    return true;
  } catch {
    return false;
  }
}

/**
 * Runs one long step of a set-up with its own output, progress included, on standard error.
 * @returns whether it succeeded.
 * @throws the signal's reason when it was aborted; the program is ended then.
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
  const code = await once(child, "exit").then(
    ([code]: (number | null)[]) => code,
    () => null, // it could not be started, or was aborted
  );
  signal.throwIfAborted();
  say(`  ${code === 0 ? "done" : "failed"} after ${((performance.now() - started) / 1000).toFixed(1)} s`);
  return code === 0;
}
