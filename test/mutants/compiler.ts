import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

/** What a change may leave behind without being wrong: StrykerJS's own check of types allows it too. */
const ALLOWED = ["--noUnusedLocals", "false", "--noUnusedParameters", "false", "--allowUnreachableCode", "true"];

interface Project {
  /** The folder with tsconfig.json and node_modules. */
  readonly project: string;
  /** The path of a file in which the compiler keeps what it knows, so that it checks again only what a change may touch. */
  readonly memory: string;
  readonly signal: AbortSignal;
}

/** Returns whether TypeScript's compiler accepts a project. @throws if the compiler cannot run. */
export async function isAccepted({ project, memory, signal }: Project): Promise<boolean> {
  const tsc = join(project, "node_modules/typescript/bin/tsc");
  const args = [tsc, ...ALLOWED, "--incremental", "--tsBuildInfoFile", memory];
  try {
    await promisify(execFile)(process.execPath, args, { cwd: project, signal, maxBuffer: Infinity });
    return true;
  } catch (error) {
    // A program that is missing, or settings that are wrong, say nothing about a change. Then no line of a .ts file is named.
    if (/\.ts\(\d+,\d+\): error TS/.test((error as { stdout?: string }).stdout ?? "")) return false;
    throw error;
  }
}
