import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { StopSignals } from "./stop-signals.ts";

interface ChildOptions extends StopSignals {
  readonly env: NodeJS.ProcessEnv;
  /** Sent to the program at the first stop request. */
  readonly stopWith: NodeJS.Signals;
  /** Flags of node. */
  readonly flags?: readonly string[];
}

const TSX = import.meta.resolve("tsx");

/**
 * Runs a TypeScript program whose output goes to this terminal. The program leads its own process group. So Ctrl-C does not
 * reach it directly but only as `stopWith`, and the processes that it leaves behind can be killed as a group.
 * @param file relative to the project's root.
 * @returns its first message (undefined if it exits without one), and its exit code (null if a signal ended it).
 */
export function runChild(file: string, args: string[], { stopping, forced, env, stopWith, flags = [] }: ChildOptions) {
  const program = fileURLToPath(new URL(`../../${file}`, import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [...flags, "--import", TSX, program, ...args], {
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

function whenAborted(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act();
  else signal.addEventListener("abort", act);
}

function killGroup(group: number): void {
  try {
    process.kill(group, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // ESRCH: the group is already empty
  }
}
