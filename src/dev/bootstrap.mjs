/**
 * Runs first in every npm script: `node src/dev/bootstrap.mjs [ENTRY.ts [arguments]]` installs the packages if they are
 * missing or differ from package-lock.json, then runs the entry. The entry runs in this same process, so it receives the
 * arguments and signals and sets the exit code. This file is plain JavaScript without dependencies, because a fresh clone
 * has no packages yet.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** @param {string} path */
const readJson = (path) => JSON.parse(readFileSync(resolve(ROOT, path), "utf8"));

const wanted = readJson("package.json").engines.node.replace(">=", "");
if (process.versions.node.localeCompare(wanted, "en", { numeric: true }) < 0) {
  console.error(`Node ${wanted} or newer is needed; this is ${process.versions.node}.`);
  process.exit(1);
}
if (lacksPackages()) install();

const [entry, ...args] = process.argv.slice(2);
if (entry !== undefined) {
  process.argv = [process.execPath, resolve(ROOT, entry), ...args];
  await import("tsx"); // from here on `import` understands TypeScript
  await import(pathToFileURL(resolve(ROOT, entry)).href);
}

/**
 * Returns whether a package of the lock file is missing or has another version. Compares with npm's own record of what it
 * installed, not with file times: a checkout or a copy changes file times. Skips optional packages, because npm never
 * installs those of other platforms.
 */
function lacksPackages() {
  const record = "node_modules/.package-lock.json";
  const installed = existsSync(resolve(ROOT, record)) ? readJson(record).packages : {};
  /** @type {[path: string, { version: string, optional?: boolean }][]} */
  const locked = Object.entries(readJson("package-lock.json").packages);
  return locked.some(([path, { version, optional }]) => path && !optional && installed[path]?.version !== version);
}

/** Includes the development packages even under NODE_ENV=production: tsx, which runs TypeScript, is one of them. */
function install() {
  console.error("Installing the npm packages (npm ci). This can take a minute …");
  const ci = ["ci", "--include=dev", "--loglevel=warn"];
  const npm = process.env.npm_execpath;
  const [command, args] = npm === undefined ? ["npm", ci] : [process.execPath, [npm, ...ci]];
  // npm's output goes to standard error: standard output is reserved for the entry.
  if (spawnSync(command, args, { cwd: ROOT, stdio: ["ignore", 2, 2] }).status === 0) return;
  console.error("npm ci failed; its error is above. Nothing was started.");
  process.exit(1);
}
