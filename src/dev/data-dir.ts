import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { SetupError } from "./output.ts";

/** The folder of the development servers' data and of downloaded programs: DATA_DIR, or .data. Only development uses it. */
export function dataDirOf(env: NodeJS.ProcessEnv): string {
  return env["DATA_DIR"] || ".data";
}

export function toolsIn(dataDir: string): string {
  return resolve(dataDir, "tools");
}

/** Creates DATA_DIR if it is missing. @throws {SetupError} if it is no folder in which this user can create files. */
export function prepareDataDir(dataDir: string): void {
  try {
    createPrivateFolder(dataDir);
    if (!statSync(dataDir).isDirectory()) throw new Error("it is not a folder");
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = (error as Error).message;
    const advice = "Set DATA_DIR to a folder that you can write to.";
    throw new SetupError(`DATA_DIR ${dataDir} cannot be used: ${reason}. ${advice}`);
  }
}

/**
 * Creates a folder, and those above it, that only its owner can read. It may exist already. (The option `recursive` of
 * mkdir never returns for a path such as /proc/nope.)
 */
export function createPrivateFolder(dir: string): void {
  if (existsSync(dir)) return;
  createPrivateFolder(dirname(dir));
  mkdirSync(dir, { mode: 0o700 });
}
