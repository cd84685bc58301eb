import { resolve } from "node:path";

/** The folder of the development servers' data and of downloaded programs: DATA_DIR, or .data. Only development uses it. */
export function dataDirOf(env: NodeJS.ProcessEnv): string {
  return env["DATA_DIR"] || ".data";
}

/** The folder of downloaded programs inside a data folder. */
export function toolsIn(dataDir: string): string {
  return resolve(dataDir, "tools");
}
