import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { dataDirOf, toolsIn } from "../../src/dev/data-dir.ts";
import { lock } from "../../src/dev/lock.ts";
import { say } from "../../src/dev/output.ts";
import { onPath, step } from "../../src/dev/programs.ts";

/** The folder of downloaded programs, which all suites share. */
export const TOOLS = toolsIn(dataDirOf(process.env));

/** Runs `install` while no other process installs tools. */
export async function withTools<T>(install: () => Promise<T>): Promise<T> {
  const release = await lock(TOOLS, () => say("Waiting for another process to finish installing tools …"));
  try {
    return await install();
  } finally {
    release();
  }
}

/**
 * Installs npm packages that one command needs into a folder of their own, once. The others then do without them.
 * @param packages names with versions.
 * @returns the folder node_modules with the packages; undefined if npm fails.
 */
export async function installPackages(packages: readonly string[], signal: AbortSignal): Promise<string | undefined> {
  const names = packages.map((name) => name.replace(/.*\//, "")).join("-");
  const folder = join(TOOLS, names);
  if (existsSync(folder)) return join(folder, "node_modules");
  const part = `${folder}.part`; // renamed at the end, so that a folder is never half full
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part, { recursive: true });
  const options = ["--prefix", part, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
  if (!(await step(`Installing ${names} (npm)`, "npm", ["install", ...options, ...packages], { signal })))
    return undefined;
  renameSync(part, folder);
  return join(folder, "node_modules");
}

/**
 * Copies the jars that a POM depends on into `folder`, once.
 * @param title what the jars are, for the line that says that they are installed.
 * @returns whether the folder is there: false without Maven, or if it fails.
 */
export async function installJars(title: string, pom: URL, folder: string, signal: AbortSignal): Promise<boolean> {
  if (existsSync(folder)) return true;
  const maven = onPath("mvn");
  if (maven === undefined) return false;
  const part = `${folder}.part`; // renamed at the end, so that a folder is never half full
  rmSync(part, { recursive: true, force: true });
  const copy = ["dependency:copy-dependencies", `-DoutputDirectory=${part}`];
  const args = ["--quiet", "--batch-mode", "--file", pom.pathname, ...copy];
  if (!(await step(`Installing ${title} (mvn)`, maven, args, { signal }))) return false;
  renameSync(part, folder);
  return true;
}
