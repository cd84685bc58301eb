import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aptInstall } from "./apt.ts";
import { onPath, runs, step } from "./programs.ts";

const RECENT_ENOUGH = ["-c", "import sys; sys.exit(sys.version_info < (3, 10))"];
const CAN_MAKE_VENV = ["-c", "import venv, ensurepip"];

/**
 * Finds a Python program in a venv of its own in `tools`, and installs it on first use.
 * @param name what is installed, with its version. It names the venv, so each version has its own.
 * @param requirements path of the file that lists its packages.
 * @returns the path of the venv's python3; undefined without python3 3.10 or newer, without venv, or if pip fails.
 */
export async function findInVenv(
  name: string,
  { tools, requirements, signal }: { tools: string; requirements: string; signal: AbortSignal },
): Promise<string | undefined> {
  const venv = join(tools, name.replace(" ", "-"));
  const python = join(venv, "bin", "python3");
  // The marker is written last, so a missing one means an interrupted installation. Then, or if Python is gone, reinstall.
  const marker = join(venv, "installed");
  if (existsSync(marker) && (await runs(python))) return python;
  rmSync(venv, { recursive: true, force: true });
  const system = onPath("python3");
  if (system === undefined || !(await runs(system, RECENT_ENOUGH))) return undefined;
  // The system's pip is enough from version 22.3. A pip in each venv takes 7 s of CPU time to install.
  const pip = (await runs(system, ["-m", "pip", "--python", system, "--version"])) ? [system, "--python", python] : [];
  // Debian ships what installs pip in a separate package.
  if (pip.length === 0 && !(await runs(system, CAN_MAKE_VENV)))
    if (!(await aptInstall("python3-venv", signal))) return undefined;
  const [runner = python, ...options] = pip;
  const make = ["-m", "venv", ...(pip.length > 0 ? ["--without-pip"] : []), venv];
  const install = ["install", "--disable-pip-version-check", "--no-input", "--requirement", requirements];
  const installed =
    (await step(`Creating a Python environment for ${name}`, system, make, { signal })) &&
    (await step(`Installing ${name} (pip)`, runner, ["-m", "pip", ...options, ...install], { signal }));
  if (installed) writeFileSync(marker, "");
  return installed ? python : undefined;
}
