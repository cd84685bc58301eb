import { resolve } from "node:path";

/** Where `npm start` keeps its servers, their data and downloaded programs: DATA_DIR, or .data. Only development uses it. */
export function dataDirOf(env: NodeJS.ProcessEnv): string {
  return env["DATA_DIR"] || ".data";
}

/** Where a data folder keeps downloaded programs. */
export function toolsIn(dataDir: string): string {
  return resolve(dataDir, "tools");
}
