import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findInVenv } from "./python.ts";

/** A program that speaks MongoDB's protocol, and how to run it. */
export interface MongoProgram {
  readonly name: string;
  readonly command: string;
  args(dir: string, port: number): string[];
  /** Its own folder inside a data folder: mongod and the stand-in cannot read each other's files. */
  readonly folder: string;
}

/** nx-27017 speaks MongoDB's protocol over SQLite files. That is enough for development on machines without mongod. */
export const STANDIN = { name: "nx-27017 0.8.1", folder: "mongo-standin" } as const;

const REQUIREMENTS = fileURLToPath(new URL("standin-requirements.txt", import.meta.url));

/**
 * Finds the stand-in in its venv in `tools`, and installs it on first use.
 * @returns undefined without python3 3.10 or newer, without venv, or if pip cannot install the packages.
 */
export async function findStandin(tools: string, signal: AbortSignal): Promise<MongoProgram | undefined> {
  const python = await findInVenv(STANDIN.name, { tools, requirements: REQUIREMENTS, signal });
  if (python === undefined) return undefined;
  return {
    ...STANDIN,
    command: python,
    args(dir, port) {
      // By default all stand-ins share one log and one pid file in the temporary folder.
      const files = ["--data-dir", dir, "--log-file", join(dir, "nx.log"), "--pid-file", join(dir, "nx.pid")];
      return ["-m", "nx_27017.nx_27017", "--host", "127.0.0.1", "-p", `${port}`, ...files];
    },
  };
}
