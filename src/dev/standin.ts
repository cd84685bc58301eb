import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { aptInstall, hasApt } from "./apt.ts";
import type { MongoProgram } from "./mongo-program.ts";
import { onPath, runs, step } from "./programs.ts";

/** nx-27017 speaks MongoDB's protocol over SQLite files. That is enough for development on machines without mongod. */
export const STANDIN = { name: "nx-27017 0.8.1", folder: "mongo-standin" } as const;

const REQUIREMENTS = fileURLToPath(new URL("standin-requirements.txt", import.meta.url));
const RECENT_ENOUGH = ["-c", "import sys; sys.exit(sys.version_info < (3, 10))"];
const CAN_MAKE_VENV = ["-c", "import venv, ensurepip"];

/**
 * Finds the stand-in in its venv in `tools`, and installs it on first use.
 * @returns undefined without python3 3.10 or newer, without venv, or if pip cannot install the packages.
 */
export async function findStandin(tools: string, signal: AbortSignal): Promise<MongoProgram | undefined> {
  const venv = join(tools, STANDIN.name.replace(" ", "-"));
  const python = join(venv, "bin", "python3");
  // The marker is written last, so a missing one means an interrupted installation. Then, or if Python is gone, reinstall.
  const marker = join(venv, "installed");
  if (!existsSync(marker) || !(await runs(python))) {
    rmSync(venv, { recursive: true, force: true });
    if (!(await install(venv, python, signal))) return undefined;
    writeFileSync(marker, "");
  }
  return {
    ...STANDIN,
    command: python,
    args: (dir, port) => [
      "-m",
      "nx_27017.nx_27017",
      "--data-dir",
      dir,
      "--host",
      "127.0.0.1",
      "-p",
      `${port}`,
      ...ownFiles(dir),
    ],
  };
}

/** Puts log and pid file into the data folder. By default all servers share fixed names in the temporary folder. */
function ownFiles(dir: string): string[] {
  return ["--log-file", join(dir, "nx.log"), "--pid-file", join(dir, "nx.pid")];
}

async function install(venv: string, python: string, signal: AbortSignal): Promise<boolean> {
  const system = onPath("python3");
  if (system === undefined || !(await runs(system, RECENT_ENOUGH))) return false;
  // Debian ships venv in a separate package.
  if (!(await runs(system, CAN_MAKE_VENV)) && !(hasApt() && (await aptInstall("python3-venv", signal)))) return false;
  const pip = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--requirement", REQUIREMENTS];
  return (
    (await step("Creating a Python environment for the MongoDB stand-in", system, ["-m", "venv", venv], { signal })) &&
    (await step(`Installing ${STANDIN.name} (pip)`, python, pip, { signal }))
  );
}
