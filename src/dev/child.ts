import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { StopSignals } from "./stop-signals.ts";

export interface ChildOptions extends StopSignals {
  readonly env: NodeJS.ProcessEnv;
  /** What asks this program to finish. */
  readonly stopWith: NodeJS.Signals;
  /** A module to import before the program. */
  readonly first?: string;
}

/** A program that was started here and is asked to finish when we are. */
export interface Child {
  /** The first message it sends; undefined when it ends without one. */
  readonly message: Promise<unknown>;
  /** Its exit code when it is gone, and all it has started with it; null when a signal ended it. */
  readonly exited: Promise<number | null>;
}

const TSX = import.meta.resolve("tsx");

/**
 * Runs a program written in TypeScript, on our terminal. It leads a process group, so that Ctrl-C reaches it once, through
 * us, and so that whatever it leaves behind can be ended.
 * @param file relative to the project's root, as is `first`.
 */
export function runChild(
  file: string,
  args: string[],
  { stopping, forced, env, stopWith, first }: ChildOptions,
): Child {
  const imports = [TSX, ...(first === undefined ? [] : [projectUrl(first).href])].flatMap((url) => ["--import", url]);
  const child: ChildProcess = spawn(process.execPath, [...imports, fileURLToPath(projectUrl(file)), ...args], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    detached: true,
    env,
  });
  const group = -(child.pid ?? NaN);
  const exited = once(child, "exit").then(([code]: (number | null)[]) => {
    killGroup(group);
    return code ?? null;
  });
  const message = once(child, "message").then(([message]: unknown[]) => message);
  whenAborted(stopping, () => child.kill(stopWith));
  whenAborted(forced, () => killGroup(group));
  return { exited, message: Promise.race([message, exited.then(() => undefined)]) };
}

function projectUrl(path: string): URL {
  return new URL(`../../${path}`, import.meta.url);
}

function whenAborted(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener("abort", act);
}

function killGroup(group: number): void {
  try {
    process.kill(group, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // nobody was left
  }
}
